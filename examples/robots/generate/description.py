"""Writes URDF: links made of boxes, cylinders and spheres, joints between them. Standard library only.

A link's inertia comes from its shapes: uniform density, scaled to the given mass; for a shape with
second moments s (about its own centre, in its own axes)

  box (a, b, c):      s = m/12 (a^2, b^2, c^2)
  cylinder (r, l):    s = m (r^2/4, r^2/4, l^2/12)
  sphere r:           s = m r^2/5 (1, 1, 1)

rotated, moved and summed to S = sum m c c^T + R s R^T; then I = tr(S) 1 - S at the common centre.
"""

from dataclasses import dataclass, field
from math import cos, pi, sin
from pathlib import Path

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)


def rotation(rpy: Vector) -> list[list[float]]:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, cp, cy = (cos(a) for a in rpy)
    sr, sp, sy = (sin(a) for a in rpy)
    return [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]


@dataclass
class Shape:
    kind: str  # box, cylinder, sphere
    size: tuple[float, ...]  # box: edges; cylinder: radius, length (along z); sphere: radius
    xyz: Vector = ZERO
    rpy: Vector = ZERO
    material: str = "shell"
    solid: bool = True  # False: seen only, neither collision nor mass

    def volume(self) -> float:
        if self.kind == "box":
            return self.size[0] * self.size[1] * self.size[2]
        if self.kind == "cylinder":
            return pi * self.size[0] ** 2 * self.size[1]
        return 4 / 3 * pi * self.size[0] ** 3

    def second_moments(self) -> Vector:
        """Per unit of mass, about the shape's centre, in its own axes."""
        if self.kind == "box":
            return tuple(e * e / 12 for e in self.size)
        if self.kind == "cylinder":
            radius, length = self.size
            return (radius * radius / 4, radius * radius / 4, length * length / 12)
        return (self.size[0] ** 2 / 5,) * 3

    def geometry(self) -> str:
        if self.kind == "box":
            return f'<box size="{numbers(self.size)}"/>'
        if self.kind == "cylinder":
            return f'<cylinder radius="{number(self.size[0])}" length="{number(self.size[1])}"/>'
        return f'<sphere radius="{number(self.size[0])}"/>'


def box(size, xyz=ZERO, rpy=ZERO, **more):
    return Shape("box", size, xyz, rpy, **more)


def cylinder(radius, length, xyz=ZERO, along="z", **more):
    rpy = {"x": (0.0, pi / 2, 0.0), "y": (-pi / 2, 0.0, 0.0), "z": ZERO}[along]
    return Shape("cylinder", (radius, length), xyz, rpy, **more)


def sphere(radius, xyz=ZERO, **more):
    return Shape("sphere", (radius,), xyz, **more)


@dataclass
class Inertial:
    mass: float
    com: Vector
    inertia: tuple[float, ...]  # at the centre of mass: xx, xy, xz, yy, yz, zz


def inertia_of(mass: float, shapes: list[Shape]) -> Inertial:
    solid = [s for s in shapes if s.solid]
    total = sum(s.volume() for s in solid)
    com = tuple(sum(s.volume() / total * s.xyz[i] for s in solid) for i in range(3))
    second = [[0.0] * 3 for _ in range(3)]
    for s in solid:
        m, R, own = mass * s.volume() / total, rotation(s.rpy), s.second_moments()
        c = [s.xyz[i] - com[i] for i in range(3)]
        for i in range(3):
            for j in range(3):
                turned = sum(R[i][k] * own[k] * R[j][k] for k in range(3))
                second[i][j] += m * (turned + c[i] * c[j])
    trace = second[0][0] + second[1][1] + second[2][2]
    I = [[(trace if i == j else 0.0) - second[i][j] for j in range(3)] for i in range(3)]
    return Inertial(mass, com, (I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]))


@dataclass
class Link:
    name: str
    inertial: Inertial | None
    shapes: list[Shape] = field(default_factory=list)


@dataclass
class Joint:
    name: str
    kind: str
    parent: str
    child: str
    xyz: Vector
    rpy: Vector
    axis: Vector
    limit: dict | None


class Robot:
    def __init__(self, name: str, comment: str, materials: dict[str, tuple[float, ...]]):
        self.name, self.comment, self.materials = name, comment, materials
        self.items: list[Link | Joint] = []

    def link(self, name, mass=None, *shapes):
        """A link of uniform shapes with the given mass; no inertial if there is no mass."""
        inertial = inertia_of(mass, list(shapes)) if mass else None
        self.items.append(Link(name, inertial, list(shapes)))

    def link_with(self, name, inertial, *shapes):
        """A link whose inertia is known otherwise."""
        self.items.append(Link(name, inertial, list(shapes)))

    def joint(self, name, kind, parent, child, xyz=ZERO, rpy=ZERO, axis=(0, 0, 1), **limit):
        self.items.append(Joint(name, kind, parent, child, xyz, rpy, axis, limit or None))

    def mass(self) -> float:
        return sum(i.inertial.mass for i in self.items if isinstance(i, Link) and i.inertial)

    def urdf(self) -> str:
        out = ['<?xml version="1.0"?>', f"<!-- {self.comment} -->", f'<robot name="{self.name}">']
        for name, rgba in self.materials.items():
            out.append(f'  <material name="{name}"><color rgba="{numbers(rgba)}"/></material>')
        for item in self.items:
            out.append("")
            out += link_lines(item) if isinstance(item, Link) else joint_lines(item)
        return "\n".join(out + ["</robot>", ""])


def link_lines(link: Link) -> list[str]:
    out = [f'  <link name="{link.name}">']
    if link.inertial:
        xx, xy, xz, yy, yz, zz = (number(v) for v in link.inertial.inertia)
        out += [
            "    <inertial>",
            f'      <origin xyz="{numbers(link.inertial.com)}" rpy="0 0 0"/>',
            f'      <mass value="{number(link.inertial.mass)}"/>',
            f'      <inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>',
            "    </inertial>",
        ]
    for shape in link.shapes:
        origin = f'<origin xyz="{numbers(shape.xyz)}" rpy="{numbers(shape.rpy)}"/>'
        body = f"{origin}<geometry>{shape.geometry()}</geometry>"
        out.append(f'    <visual>{body}<material name="{shape.material}"/></visual>')
        if shape.solid:
            out.append(f"    <collision>{body}</collision>")
    return out + ["  </link>"] if len(out) > 1 else [f'  <link name="{link.name}"/>']


def joint_lines(joint: Joint) -> list[str]:
    out = [
        f'  <joint name="{joint.name}" type="{joint.kind}">',
        f'    <parent link="{joint.parent}"/>',
        f'    <child link="{joint.child}"/>',
        f'    <origin xyz="{numbers(joint.xyz)}" rpy="{numbers(joint.rpy)}"/>',
    ]
    if joint.kind != "fixed":
        out.append(f'    <axis xyz="{numbers(joint.axis)}"/>')
    if joint.limit:
        out.append("    <limit " + " ".join(f'{k}="{number(v)}"' for k, v in joint.limit.items()) + "/>")
    return out + ["  </joint>"]


def number(value: float) -> str:
    """Twelve digits, without the dust of rounding: 1e-17 is 0. Right angles keep all their digits."""
    for right in (pi / 2, pi):
        if abs(abs(value) - right) < 1e-12:
            return repr(right if value > 0 else -right)
    return f"{0.0 if abs(value) < 1e-14 else value:.12g}"


def numbers(values) -> str:
    return " ".join(number(v) for v in values)


def cell_rows(points) -> str:
    """Skin cells (position and normal) as lines of a YAML list, three per line."""
    rows = [f"[{', '.join(number(round(v, 6)) for v in p)}]" for p in points]
    return "\n".join("      " + ", ".join(rows[i:i + 3]) + "," for i in range(0, len(rows), 3))


def write(files: dict[str, str]) -> None:
    """Into the folder above this one."""
    for name, text in files.items():
        (Path(__file__).resolve().parent.parent / name).write_text(text)
