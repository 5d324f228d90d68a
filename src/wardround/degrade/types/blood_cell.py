"""Blood cells: red cells that were carried over the tissue and lie on the section.

Each cell absorbs as haemoglobin stained with eosin does, pink, so that the tissue stays visible through it; cells that
overlap are a deeper pink. It is a biconcave disc (thickness after Evans and Fung) or a flatter one, of varied size, a
little out of round and out of focus, with the faint bright fringe of refraction around it; half of the cells stick
to another. Their size is that of the nuclei in the image, as red cells (7 to 8 micrometres) and most nuclei are alike.
`cover` is the share of the image that they would cover side by side, or `cells` their number; `radius` is their mean
radius where no nuclei are seen.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.degrade.operations.nuclei import nucleus_radius
from wardround.degrade.operations.overlay import Box, Field, box, opacities, planes, smoothstep
from wardround.degrade.signature import Image, SeverityParameters

DENSITY = (0.04, 0.50, 0.38)  # natural optical density of a cell in red, green, blue: eosin pink, towards orange
DENSITY_GREY = 0.36
MOST_DENSE = 1.9  # cells on top of each other: a heap is not much darker than two
SCALES = (0.4, 2.5)  # of `radius`: nuclei that seem smaller or larger are not nuclei
MOST_CELLS = 3000
CLUMPED = 0.5
FRINGE = 0.05  # of a cell's density: the light that refraction throws just outside
REACH = 1.3  # in radii: the fringe and an outline that bulges lie within
STEPS = 512  # of a cell's profile, to two radii


class BloodCell(NamedTuple):
    """One cell, lengths in pixels."""

    y: float
    x: float
    radius: float
    aspect: float
    turn: float
    lobe: float  # how far the outline bulges three times around
    density: float
    pallor: float
    softness: float  # of the edge, in radii


def blood_cell(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    height, width = image.shape[:2]
    radius = _radius(image, severity["radius"] * min(height, width))
    count = severity["cells"] if "cells" in severity else severity["cover"] * height * width / (math.pi * radius**2)
    cell_opacities = opacities(min(count, MOST_CELLS))
    density = np.zeros((height, width), np.float32)
    cells = _cells(len(cell_opacities), height, width, radius, rng)
    for cell, profile, opacity in zip(cells, _profiles(cells), cell_opacities, strict=True):
        part = box(density.shape, cell.y, cell.x, REACH * cell.radius)
        density[part.place] += np.float32(opacity * cell.density) * profile.take(_steps(cell, part), mode="clip")
    heap = np.float32(MOST_DENSE - 1)  # above one whole cell
    density = np.where(density > 1, 1 - heap * np.expm1((1 - density) / heap), density)
    done = image.copy()
    for plane, strength in planes(done, DENSITY, DENSITY_GREY):
        plane *= np.exp(density * np.float32(-strength))
    return done


def _radius(image: Image, usual: float) -> float:
    """The mean radius of a cell in pixels."""
    nucleus = nucleus_radius(image)
    return usual if nucleus is None else min(max(nucleus, SCALES[0] * usual), SCALES[1] * usual)


def _cells(number: int, height: int, width: int, radius: float, rng: Generator) -> list[BloodCell]:
    cells: list[BloodCell] = []
    for u in rng.random((number, 13)):
        y, x = u[0] * height - 0.5, u[1] * width - 0.5
        own = max(1.0, radius * (0.8 + 0.4 * u[2]))
        if cells and u[3] < CLUMPED:
            near = cells[int(u[4] * len(cells))]
            apart = (near.radius + own) * (0.65 + 0.35 * u[5])
            y, x = near.y + apart * math.sin(math.tau * u[6]), near.x + apart * math.cos(math.tau * u[6])
            y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
        cells.append(
            BloodCell(
                y,
                x,
                own,
                aspect=0.82 + 0.18 * u[7],
                turn=math.tau * u[8],
                lobe=0.07 * u[9],
                density=0.65 + 0.45 * u[10],
                pallor=0.35 + 0.55 * u[11],
                softness=max(0.07 + 0.12 * u[12], 0.7 / own),
            )
        )
    return cells


def _steps(cell: BloodCell, part: Box) -> NDArray[np.intp]:
    """How far each pixel is from the centre, in steps of the cell's profile."""
    c, s = np.float32(math.cos(cell.turn) / cell.radius), np.float32(math.sin(cell.turn) / cell.radius)
    along = c * part.across + s * part.down
    aside = (c * part.down - s * part.across) * np.float32(1 / cell.aspect)
    aside *= aside
    square = along * along
    square += aside
    rho = np.sqrt(square)
    # cos 3 phi = (along^3 - 3 along aside^2) / rho^3
    lobes = along * (square - np.float32(4) * aside) / (square * rho + np.float32(1e-6))
    rho *= np.float32(STEPS / 2) * (np.float32(1) - np.float32(cell.lobe) * lobes)
    steps: NDArray[np.intp] = rho.astype(np.intp)
    return steps


def _profiles(cells: list[BloodCell]) -> Field:
    """How much of each cell the light crosses, by the distance from its centre: 1 at most, below 0 in the fringe."""
    rho = np.linspace(0, 2, STEPS, dtype=np.float32)
    square = np.minimum(rho * rho, np.float32(1))
    pallor, softness = (
        np.array([(cell.pallor, cell.softness) for cell in cells], np.float32).reshape(-1, 2, 1).swapaxes(0, 1)
    )
    inside = smoothstep((np.float32(1) - rho) / (2 * softness) + np.float32(0.5))
    # Evans and Fung 1972: (1 - rho^2)^(1/2) (c0 + c1 rho^2 + c2 rho^4), divided by its most
    biconcave = np.sqrt(1 - square) * (0.2072 + 2.0026 * square - 1.1228 * square * square) / 0.656
    fringe = np.exp(-(((rho - 1 - softness) / np.float32(0.1)) ** 2)) * (rho < REACH)
    crossed: Field = inside + pallor * (np.minimum(biconcave, inside) - inside)
    crossed -= np.float32(FRINGE) * fringe * (1 - inside)
    return crossed
