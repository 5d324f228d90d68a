"""wardround examines medical multimodal models the way a hospital examines its doctors."""

__version__ = "0.1.0"
