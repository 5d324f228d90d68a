"""Images prepared for sending: the recipe that an Ask names, and the pure function that follows it."""

from wardround.cases.images.recipe import recipe_for
from wardround.cases.images.render import pixels, render

__all__ = ["pixels", "recipe_for", "render"]
