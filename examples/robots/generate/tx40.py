"""Writes ../tx40.urdf: the arm of ../tx40.yaml (same frames, same inertias) with simple shapes."""

from math import pi

from description import Inertial, Robot, box, cylinder, write

# modified DH: alpha, a, d, theta at zero
DH = [(0, 0, 0, 0), (-pi / 2, 0, 0, -pi / 2), (0, 0.225, 0.035, pi / 2), (pi / 2, 0, 0.225, 0),
      (-pi / 2, 0, 0, 0), (pi / 2, 0, 0, pi)]
BASE_HEIGHT = 0.32
MASS = [8.61, 4.85, 4.07, 3.62, 1.02, 0.2]
FIRST_MOMENT = [(0, 0, -0.4305), (0.392, -0.0072, 0.162), (0.0326, 0.0244, 0.265),
                (0.0145, -0.00724, -0.586), (0, -0.00306, -0.00102), (0, 0, 0.0084)]
INERTIA = [  # about the link frame: xx, xy, xz, yy, yz, zz
    (0.424, 0, 0, 0.424, 0, 0.352),
    (0.0163, 0.000785, -0.0157, 0.0881, 0.000324, 0.0828),
    (0.0223, -0.000195, -0.00116, 0.0224, -0.00222, 0.00441),
    (0.109, 2.9e-5, 0.00135, 0.108, -0.00117, 0.00407),
    (0.00101, 0, 0, 0.001, -3.06e-6, 0.00101),
    (0.00353, 0, 0, 0.00353, 0, 0.000353),
]
LIMITS = [(-180, 180, 287, 200), (-125, 125, 287, 200), (-138, 138, 430, 80), (-270, 270, 410, 30),
          (-120, 133.5, 320, 25), (-270, 270, 700, 12)]  # deg, deg, deg/s, N m


def at_com(mass, moment, inertia):
    """I_C = I_O - m (|c|^2 1 - c c^T)."""
    x, y, z = (h / mass for h in moment)
    xx, xy, xz, yy, yz, zz = inertia
    return Inertial(mass, (x, y, z), (xx - mass * (y * y + z * z), xy + mass * x * y, xz + mass * x * z,
                                      yy - mass * (x * x + z * z), yz + mass * y * z,
                                      zz - mass * (x * x + y * y)))


def rpy_of(alpha, theta):
    """Angles of Rx(alpha) Rz(theta) for the right angles of this table."""
    if theta == 0:
        return (alpha, 0, 0)
    if alpha == 0:
        return (0, 0, theta)
    if abs(theta) == pi:  # Rx(alpha) Rz(pi) = Rz(pi) Rx(-alpha)
        return (-alpha, 0, theta)
    # joint 2, Rx(-pi/2) Rz(-pi/2): x -> z, y -> x, z -> y
    return (-pi / 2, -pi / 2, 0)


def files() -> dict[str, str]:
    robot = Robot("tx40", "Staubli TX40: frames and inertias of tx40.yaml, simplified shapes. Written by generate/tx40.py.",
                  {"shell": (0.93, 0.93, 0.9, 1), "joint": (0.35, 0.36, 0.38, 1), "accent": (0.95, 0.75, 0.1, 1)})
    # at zero the arm stands upright: z1 up, x2 up, z3 to the side, z4 up
    shapes = [
        [cylinder(0.09, 0.16, (0, 0, -0.11)), box((0.13, 0.1, 0.16), (0, -0.04, 0))],
        [cylinder(0.07, 0.08, (0, 0, 0.05)), box((0.225, 0.1, 0.07), (0.1125, 0, 0.05)),
         cylinder(0.06, 0.08, (0.225, 0, 0.05))],
        [cylinder(0.06, 0.1, (0, 0, 0.07), material="joint"), box((0.11, 0.11, 0.09), (0, 0, 0.055))],
        [cylinder(0.05, 0.17, (0, 0, -0.13)), cylinder(0.035, 0.05, (0, 0, -0.03))],
        [cylinder(0.03, 0.07, material="joint")],
        [cylinder(0.025, 0.065, (0, 0, 0.0325), material="accent")],
    ]
    # what remains of the 27 kg of the data sheet; without effect on a fixed base
    robot.link("base_link", 4.63, cylinder(0.1, 0.13, (0, 0, 0.065), material="joint"))
    for i in range(6):
        alpha, a, d, theta = DH[i]
        # Rx(alpha) Tx(a) Tz(d): the offset d is along the turned z axis; all alpha with d != 0 are 0 or pi/2
        xyz = (a, 0, d) if alpha == 0 else (a, -d if alpha > 0 else d, 0)
        if i == 0:
            xyz = (0, 0, BASE_HEIGHT)
        lower, upper, velocity, effort = LIMITS[i]
        robot.joint(f"joint_{i + 1}", "revolute", f"link_{i}" if i else "base_link", f"link_{i + 1}", xyz,
                    rpy_of(alpha, theta), (0, 0, 1), lower=round(lower * pi / 180, 5),
                    upper=round(upper * pi / 180, 5), velocity=round(velocity * pi / 180, 5), effort=effort)
        robot.link_with(f"link_{i + 1}", at_com(MASS[i], FIRST_MOMENT[i], INERTIA[i]), *shapes[i])
    return {"tx40.urdf": robot.urdf()}


if __name__ == "__main__":
    write(files())
