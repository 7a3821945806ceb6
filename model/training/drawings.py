"""Digits, letters, signs, smileys and scribbles drawn by a random hand with a round pen, as on the app's pad.

A drawing is a list of strokes, a stroke a list of points (x, y) in a square from 0 to 1, y downwards.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np
from PIL import Image, ImageDraw
from torch import Tensor, stack, tensor

from model.digits import DigitError, prepare

Strokes = list[list[tuple[float, float]]]
SIDE = 112  # of the pad; drawn at twice the size and averaged down
PENS = (8, 30)  # widths at twice the size: those of the pad and a little beyond


def arc(x: float, y: float, width: float, height: float, start: float, end: float) -> list[tuple[float, float]]:
    """Points of an ellipse round (x, y), from one angle to another: in degrees from the right, clockwise."""
    angles = np.radians(np.linspace(start, end, 24))
    return [(x + width * np.cos(angle), y + height * np.sin(angle)) for angle in angles]


#: As people write them, some in several ways.
DIGITS: dict[str, list[Strokes]] = {
    "0": [[arc(0.5, 0.5, 0.24, 0.35, -100, 260)], [arc(0.5, 0.5, 0.31, 0.35, -80, 275)]],
    "1": [
        [[(0.5, 0.15), (0.5, 0.85)]],
        [[(0.38, 0.3), (0.55, 0.15), (0.55, 0.85)]],
        [[(0.38, 0.3), (0.52, 0.15), (0.52, 0.85)], [(0.35, 0.85), (0.7, 0.85)]],
    ],
    "2": [
        [[*arc(0.5, 0.34, 0.22, 0.19, -170, 30), (0.28, 0.85), (0.74, 0.85)]],
        [[*arc(0.5, 0.35, 0.2, 0.2, -190, 40), *arc(0.36, 0.78, 0.09, 0.07, 60, 300), (0.76, 0.83)]],
    ],
    "3": [[[*arc(0.47, 0.32, 0.22, 0.17, -150, 90), *arc(0.47, 0.67, 0.25, 0.18, -90, 150)]],
          [[(0.28, 0.15), (0.7, 0.15), (0.47, 0.45), *arc(0.47, 0.65, 0.24, 0.2, -80, 150)]]],
    "4": [
        [[(0.55, 0.15), (0.22, 0.6), (0.78, 0.6)], [(0.6, 0.35), (0.6, 0.87)]],
        [[(0.3, 0.15), (0.28, 0.52), (0.7, 0.52)], [(0.68, 0.15), (0.66, 0.87)]],
        [[(0.62, 0.87), (0.62, 0.15), (0.25, 0.62), (0.78, 0.62)]],
    ],
    "5": [
        [[(0.7, 0.15), (0.34, 0.15), (0.32, 0.45), *arc(0.46, 0.64, 0.24, 0.21, -110, 140)]],
        [[(0.36, 0.15), (0.33, 0.46), *arc(0.46, 0.64, 0.24, 0.21, -110, 140)], [(0.36, 0.15), (0.72, 0.15)]],
    ],
    "6": [[[(0.62, 0.15), *arc(0.5, 0.65, 0.2, 0.21, -170, 190)]],
          [[(0.42, 0.13), (0.31, 0.5), *arc(0.5, 0.66, 0.2, 0.2, -200, 160)]]],
    "7": [
        [[(0.27, 0.17), (0.72, 0.17), (0.44, 0.86)]],
        [[(0.27, 0.17), (0.72, 0.17), (0.44, 0.86)], [(0.36, 0.52), (0.7, 0.52)]],
    ],
    "8": [
        [[*arc(0.5, 0.32, 0.19, 0.17, -60, -270), *arc(0.5, 0.67, 0.22, 0.18, -90, 250), (0.6, 0.18)]],
        [arc(0.5, 0.32, 0.18, 0.17, 90, 450), arc(0.5, 0.67, 0.22, 0.18, -90, 270)],
    ],
    "9": [
        [[*arc(0.5, 0.35, 0.19, 0.2, -20, 340), (0.66, 0.87)]],
        [[*arc(0.5, 0.35, 0.19, 0.2, -20, 340), (0.69, 0.62), *arc(0.5, 0.7, 0.18, 0.17, 0, 140)]],
    ],
}  # fmt: skip

#: Letters that nobody takes for a digit: without O, I, S, Z, l, o, s, z, b, g and q.
LETTERS: dict[str, Strokes] = {
    "A": [[(0.2, 0.85), (0.5, 0.15), (0.8, 0.85)], [(0.32, 0.58), (0.68, 0.58)]],
    "B": [[(0.3, 0.15), (0.3, 0.85)], [*arc(0.3, 0.32, 0.3, 0.17, -90, 90), *arc(0.3, 0.67, 0.35, 0.18, -90, 90)]],
    "C": [arc(0.55, 0.5, 0.32, 0.35, -50, -310)],
    "D": [[(0.3, 0.15), (0.3, 0.85)], arc(0.3, 0.5, 0.42, 0.35, -90, 90)],
    "E": [[(0.7, 0.15), (0.3, 0.15), (0.3, 0.85), (0.7, 0.85)], [(0.3, 0.5), (0.6, 0.5)]],
    "F": [[(0.7, 0.15), (0.3, 0.15), (0.3, 0.85)], [(0.3, 0.5), (0.6, 0.5)]],
    "G": [[*arc(0.52, 0.5, 0.32, 0.35, -50, -360), (0.55, 0.5)]],
    "H": [[(0.25, 0.15), (0.25, 0.85)], [(0.75, 0.15), (0.75, 0.85)], [(0.25, 0.5), (0.75, 0.5)]],
    "J": [[(0.65, 0.15), *arc(0.47, 0.65, 0.18, 0.2, 0, 180)]],
    "K": [[(0.3, 0.15), (0.3, 0.85)], [(0.7, 0.15), (0.3, 0.52), (0.72, 0.85)]],
    "L": [[(0.3, 0.15), (0.3, 0.85), (0.72, 0.85)]],
    "M": [[(0.2, 0.85), (0.2, 0.15), (0.5, 0.6), (0.8, 0.15), (0.8, 0.85)]],
    "N": [[(0.25, 0.85), (0.25, 0.15), (0.75, 0.85), (0.75, 0.15)]],
    "P": [[(0.3, 0.85), (0.3, 0.15)], arc(0.3, 0.33, 0.35, 0.18, -90, 90)],
    "Q": [arc(0.5, 0.5, 0.3, 0.35, 0, 360), [(0.55, 0.65), (0.85, 0.9)]],
    "R": [[(0.3, 0.85), (0.3, 0.15)], [*arc(0.3, 0.33, 0.35, 0.18, -90, 90), (0.72, 0.85)]],
    "T": [[(0.2, 0.15), (0.8, 0.15)], [(0.5, 0.15), (0.5, 0.85)]],
    "U": [[(0.25, 0.15), *arc(0.5, 0.6, 0.25, 0.25, 180, 0), (0.75, 0.15)]],
    "V": [[(0.2, 0.15), (0.5, 0.85), (0.8, 0.15)]],
    "W": [[(0.12, 0.15), (0.3, 0.85), (0.5, 0.35), (0.7, 0.85), (0.88, 0.15)]],
    "X": [[(0.2, 0.15), (0.8, 0.85)], [(0.8, 0.15), (0.2, 0.85)]],
    "Y": [[(0.2, 0.15), (0.5, 0.5), (0.8, 0.15)], [(0.5, 0.5), (0.5, 0.85)]],
    "a": [arc(0.45, 0.62, 0.2, 0.2, 0, 360), [(0.66, 0.42), (0.66, 0.85)]],
    "d": [[(0.66, 0.1), (0.66, 0.85)], arc(0.47, 0.65, 0.18, 0.2, 0, 360)],
    "e": [[(0.3, 0.58), (0.7, 0.58), *arc(0.5, 0.6, 0.2, 0.24, -5, -310)]],
    "f": [[*arc(0.58, 0.28, 0.16, 0.16, -20, -180), (0.42, 0.85)], [(0.25, 0.45), (0.65, 0.45)]],
    "h": [[(0.3, 0.1), (0.3, 0.85)], [*arc(0.48, 0.55, 0.18, 0.15, -180, 0), (0.66, 0.85)]],
    "i": [[(0.5, 0.4), (0.5, 0.85)], [(0.5, 0.2), (0.5, 0.21)]],
    "j": [[(0.58, 0.35), *arc(0.43, 0.75, 0.15, 0.15, 0, 140)], [(0.58, 0.15), (0.58, 0.16)]],
    "k": [[(0.3, 0.1), (0.3, 0.85)], [(0.65, 0.4), (0.3, 0.62), (0.68, 0.85)]],
    "m": [
        [(0.15, 0.4), (0.15, 0.85)],
        [*arc(0.32, 0.55, 0.17, 0.15, -180, 0), (0.49, 0.85)],
        [*arc(0.66, 0.55, 0.17, 0.15, -180, 0), (0.83, 0.85)],
    ],
    "n": [[(0.3, 0.4), (0.3, 0.85)], [*arc(0.48, 0.57, 0.18, 0.17, -180, 0), (0.66, 0.85)]],
    "p": [[(0.32, 0.35), (0.32, 0.95)], arc(0.5, 0.52, 0.18, 0.18, 0, 360)],
    "r": [[(0.35, 0.4), (0.35, 0.85)], arc(0.52, 0.57, 0.17, 0.17, -180, -40)],
    "t": [[(0.48, 0.15), *arc(0.6, 0.73, 0.12, 0.12, 180, 60)], [(0.28, 0.38), (0.7, 0.38)]],
    "u": [[(0.3, 0.4), *arc(0.48, 0.66, 0.18, 0.18, 180, 0), (0.66, 0.4)], [(0.66, 0.4), (0.66, 0.85)]],
    "w": [[(0.15, 0.4), (0.3, 0.85), (0.5, 0.5), (0.7, 0.85), (0.85, 0.4)]],
    "y": [[(0.28, 0.4), (0.5, 0.66)], [(0.75, 0.4), (0.35, 0.95)]],
}

#: What else people draw to see what happens: shapes, and a few Chinese characters.
SIGNS: dict[str, Strokes] = {
    "square": [[(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8), (0.2, 0.2)]],
    "triangle": [[(0.5, 0.15), (0.85, 0.8), (0.15, 0.8), (0.5, 0.15)]],
    "star": [[(0.5, 0.1), (0.72, 0.85), (0.1, 0.4), (0.9, 0.4), (0.28, 0.85), (0.5, 0.1)]],
    "heart": [
        [(0.5, 0.85), *arc(0.32, 0.35, 0.18, 0.17, 150, 360), *arc(0.68, 0.35, 0.18, 0.17, 180, 390), (0.5, 0.85)]
    ],
    "house": [[(0.2, 0.85), (0.2, 0.45), (0.5, 0.15), (0.8, 0.45), (0.8, 0.85), (0.2, 0.85)]],
    "plus": [[(0.5, 0.15), (0.5, 0.85)], [(0.15, 0.5), (0.85, 0.5)]],
    "tick": [[(0.15, 0.5), (0.4, 0.8), (0.85, 0.2)]],
    "arrow": [[(0.1, 0.5), (0.9, 0.5)], [(0.65, 0.25), (0.9, 0.5), (0.65, 0.75)]],
    "spiral": [[(0.5 + r * np.cos(14 * r / 0.4), 0.5 + r * np.sin(14 * r / 0.4)) for r in np.linspace(0.02, 0.4, 60)]],
    "人": [[(0.5, 0.15), (0.45, 0.5), (0.15, 0.85)], [(0.48, 0.45), (0.85, 0.85)]],
    "大": [[(0.15, 0.4), (0.85, 0.4)], [(0.5, 0.12), (0.45, 0.5), (0.15, 0.88)], [(0.5, 0.42), (0.85, 0.88)]],
    "中": [[(0.2, 0.3), (0.8, 0.3), (0.8, 0.6), (0.2, 0.6), (0.2, 0.3)], [(0.5, 0.1), (0.5, 0.9)]],
    "山": [[(0.5, 0.15), (0.5, 0.8)], [(0.2, 0.4), (0.2, 0.8), (0.8, 0.8), (0.8, 0.4)]],
    "木": [
        [(0.15, 0.35), (0.85, 0.35)], [(0.5, 0.1), (0.5, 0.9)], [(0.5, 0.4), (0.15, 0.75)], [(0.5, 0.4), (0.85, 0.75)]
    ],
    "田": [
        [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8), (0.2, 0.2)], [(0.5, 0.2), (0.5, 0.8)], [(0.2, 0.5), (0.8, 0.5)]
    ],
    "王": [
        [(0.2, 0.2), (0.8, 0.2)], [(0.25, 0.5), (0.75, 0.5)], [(0.15, 0.82), (0.85, 0.82)], [(0.5, 0.2), (0.5, 0.82)]
    ],
}  # fmt: skip


def written(digit: int, dice: np.random.Generator) -> Strokes:
    """A digit as one of many hands would write it: long upstrokes and feet, loops open and closed, bars and curls.

    DIGITS holds none of these drawings: what learns from these can be measured on those.
    """
    u = dice.uniform

    def sometimes(share: float) -> bool:
        return bool(dice.random() < share)

    match digit:
        case 0:
            start = u(-150, -40)
            return [arc(0.5, 0.5, u(0.16, 0.34), 0.35, start, start + 360 + u(-25, 25))]
        case 1:
            wide = u(0.05, 0.36)  # of the upstroke, which rises more than the bar of a 7
            upstroke = [(0.55 - wide, 0.15 + max(0.08, wide * u(0.6, 1.6)))] * sometimes(0.7)
            foot = [[(0.55 - u(0.06, 0.26), 0.85), (0.55 + u(0.06, 0.26), 0.85)]] * sometimes(0.4)
            return [[*upstroke, (0.55, 0.15), (0.55 + u(-0.06, 0.04), 0.85)], *foot]
        case 2:
            top = arc(0.5, 0.34, u(0.15, 0.25), u(0.14, 0.21), u(-210, -150), u(5, 50))
            loop = arc(0.36, 0.77, u(0.05, 0.12), u(0.04, 0.09), 60, 300) if sometimes(0.35) else [(0.28, 0.85)]
            return [[*top, *loop, (u(0.68, 0.82), 0.85 + u(-0.08, 0.04))]]
        case 3:
            top = arc(0.47, 0.32, u(0.17, 0.25), 0.17, u(-170, -120), 90)
            if sometimes(0.3):
                top = [(0.27, 0.15), (0.7, 0.15), (u(0.4, 0.5), 0.45)]
            return [[*top, *arc(0.47, 0.67, u(0.2, 0.28), u(0.16, 0.21), -90, u(100, 170))]]
        case 4:
            across, stem, apex = u(0.5, 0.66), u(0.55, 0.68), u(0.13, 0.2)
            bar = (u(0.7, 0.86), across + u(-0.05, 0.03))
            foot = (stem + u(-0.06, 0.04), 0.87)
            match dice.integers(4):
                case 0:  # closed, the stem drawn down from the top
                    return [[(stem, apex), (0.22, across), bar], [(stem, apex), foot]]
                case 1:  # closed, in one stroke, from the foot
                    return [[foot, (stem, apex), (0.22, across), bar]]
                case 2:  # open
                    return [[(u(0.25, 0.42), 0.15), (0.25, across), bar], [(stem, u(0.12, 0.4)), foot]]
            return [[(u(0.25, 0.42), 0.15), (0.25, across), (stem, across), (stem, u(0.12, 0.3)), foot]]  # open, in one
        case 5:
            belly = arc(0.46, 0.64, u(0.18, 0.27), u(0.17, 0.22), u(-130, -95), u(110, 170))
            left, right = u(0.3, 0.38), u(0.62, 0.78)
            if sometimes(0.5):
                return [[(right, 0.15 + u(-0.03, 0.03)), (left, 0.15), (left - 0.02, 0.47), *belly]]
            return [[(left, 0.15), (left - 0.02, 0.47), *belly], [(left, 0.15), (right, 0.15 + u(-0.05, 0.03))]]
        case 6:
            wide, start = u(0.15, 0.23), u(-200, -160)
            stem = [(u(0.36, 0.66), 0.14)] + [(u(0.3, 0.36), u(0.35, 0.5))] * sometimes(0.5)
            return [[*stem, *arc(0.5, 0.66, wide, u(0.16, 0.22), start, start + u(310, 375))]]
        case 7:
            serif = [(u(0.2, 0.3), u(0.24, 0.34))] * sometimes(0.3)
            bar = [[(u(0.3, 0.42), 0.52), (u(0.62, 0.74), 0.5 + u(-0.06, 0.04))]] * sometimes(0.4)
            knee = [(u(0.54, 0.62), u(0.4, 0.55))] * sometimes(0.5)
            return [[*serif, (0.25, 0.17 + u(-0.02, 0.04)), (0.72, 0.17), *knee, (u(0.34, 0.5), 0.86)], *bar]
        case 8:
            upper, lower = u(0.13, 0.21), u(0.16, 0.25)
            if sometimes(0.5):
                top = arc(0.5, 0.32, upper, 0.17, u(-80, -20), -270)
                return [[*top, *arc(0.5, 0.67, lower, 0.18, -90, 250), (top[0][0], top[0][1] + u(-0.04, 0.06))]]
            return [arc(0.5, 0.32, upper, 0.17, 90, 450), arc(0.5, 0.67, lower, 0.18, -90, 270)]
    loop = arc(0.5, 0.34, u(0.14, 0.22), u(0.14, 0.21), u(-60, 10), u(330, 370))
    match dice.integers(3):
        case 0:  # a straight stem
            return [[*loop, (0.68 + u(-0.03, 0.03), 0.34), (u(0.5, 0.72), 0.87)]]
        case 1:  # with a curl
            return [[*loop, (0.69, u(0.5, 0.65)), *arc(0.5, 0.7, 0.18, u(0.12, 0.18), 0, u(90, 170))]]
    return [loop, [(0.68, u(0.14, 0.35)), (0.68, 0.7), (u(0.42, 0.66), 0.87)]]  # the stem by itself


def smiley(dice: np.random.Generator) -> Strokes:
    """A face: its outline, two eyes, a mouth, and now and then a nose."""
    apart, size, wide = dice.uniform(0.1, 0.18), dice.uniform(0.01, 0.06), dice.uniform(0.14, 0.24)
    tall = size * dice.uniform(1, 2.5)
    eyes = [arc(0.5 + side * apart, dice.uniform(0.35, 0.43), size, tall, 0, 360) for side in (-1, 1)]
    if dice.random() < 0.4:  # filled
        eyes += [[(0.5 + side * apart, 0.39), (0.5 + side * apart, 0.4)] for side in (-1, 1)]
    corner = dice.uniform(-10, 30)
    mouth = arc(0.5, dice.uniform(0.48, 0.6), wide, dice.uniform(0.03, 0.25), corner, 180 - corner)
    nose = [[(0.5, 0.46), (0.49, 0.55)]] if dice.random() < 0.3 else []
    return [arc(0.5, 0.5, 0.38, dice.uniform(0.34, 0.42), -90, 270), *eyes, mouth, *nose]


def scribble(dice: np.random.Generator) -> Strokes:
    """A line through random places, far apart or each near the last, smooth (Catmull and Rom 1974) or with corners."""
    places = dice.uniform(0.1, 0.9, (dice.integers(5, 15), 2))
    if dice.random() < 0.4:
        steps = np.cumsum(dice.normal(0, 1, (dice.integers(8, 25), 2)), axis=0)
        places = 0.1 + 0.8 * (steps - steps.min(0)) / np.ptp(steps, axis=0).max()
    if dice.random() < 0.3:
        return [list(map(tuple, places))]
    before, start, end, after = (places[i : len(places) - 3 + i] for i in range(4))
    line = []
    for u in np.linspace(0, 1, 12):
        line.append(
            start
            + (end - before) / 2 * u
            + (before - 2.5 * start + 2 * end - after / 2) * u**2
            + (1.5 * (start - end) + (after - before) / 2) * u**3
        )
    return [list(map(tuple, np.stack(line, axis=1).reshape(-1, 2).clip(0.03, 0.97)))]


def by_hand(strokes: Strokes, dice: np.random.Generator) -> Strokes:
    """The same drawing by another hand: turned, slanted, stretched, bent a little, and unsteady."""
    angle, slant = dice.uniform(-0.2, 0.2), dice.uniform(-0.25, 0.25)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    map_to = turn @ np.array([[dice.uniform(0.7, 1.1), slant], [0, dice.uniform(0.8, 1.1)]])
    bend, phase = dice.uniform(0, 0.04, 2), dice.uniform(0, 2 * np.pi, 2)
    drawn = []
    for stroke in strokes:
        points = np.array(stroke) - 0.5
        points = points + bend * np.sin(5 * points[:, ::-1] + phase) + dice.normal(0, 0.006, points.shape)
        drawn.append(list(map(tuple, 0.9 * points @ map_to.T + 0.5)))
    return drawn


def picture(strokes: Strokes, pen: float) -> np.ndarray:
    """Drawn with a round pen: (112, 112) in [0, 1], ink bright. pen: its width on a pad twice as fine."""
    side = 2 * SIDE
    sheet = Image.new("L", (side, side))
    draw = ImageDraw.Draw(sheet)
    for stroke in strokes:
        points = [(side * x, side * y) for x, y in stroke]
        draw.line(points, fill=255, width=round(pen), joint="curve")
        for x, y in points:
            draw.ellipse([x - pen / 2, y - pen / 2, x + pen / 2, y + pen / 2], fill=255)
    return np.asarray(sheet.resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float32) / 255


def prepared(pictures: Iterator[np.ndarray]) -> Tensor:
    """What `prepare` makes of them: (picture, 28, 28). What it refuses, and no network ever sees, is left out."""
    kept = []
    for one in pictures:
        try:
            kept.append(tensor(prepare(one)))
        except DigitError:
            continue
    return stack(kept)


def labelled(drawn: Iterable[tuple[int, Strokes]], dice: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Digits by another hand each: pictures (picture, 28, 28), without those that are refused, and which they are."""
    pictures, labels = [], []
    for digit, strokes in drawn:
        with suppress(DigitError):
            pictures.append(tensor(prepare(picture(by_hand(strokes, dice), dice.uniform(*PENS)))))
            labels.append(digit)
    return stack(pictures), tensor(labels)


def drawn_digits(each: int, dice: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Each way to write each digit, `each` times: to measure with."""
    ways = ((int(digit), way) for digit, some in DIGITS.items() for way in some for _ in range(each))
    return labelled(ways, dice)


def written_digits(each: int, dice: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Each digit by `each` hands: to learn from."""
    return labelled(((digit, written(digit, dice)) for digit in range(10) for _ in range(each)), dice)


def drawn_letters(each: int, dice: np.random.Generator) -> Tensor:
    """Each letter `each` times."""
    return prepared(picture(by_hand(way, dice), dice.uniform(*PENS)) for way in LETTERS.values() for _ in range(each))


def drawn_signs(each: int, dice: np.random.Generator) -> Tensor:
    """Each of the other signs `each` times."""
    return prepared(picture(by_hand(way, dice), dice.uniform(*PENS)) for way in SIGNS.values() for _ in range(each))


def drawn_smileys(count: int, dice: np.random.Generator) -> Tensor:
    return prepared(picture(by_hand(smiley(dice), dice), dice.uniform(*PENS)) for _ in range(count))


def drawn_scribbles(count: int, dice: np.random.Generator) -> Tensor:
    return prepared(picture(scribble(dice), dice.uniform(*PENS)) for _ in range(count))
