"""Writes ../mobile_manipulator.urdf and ../mobile_manipulator.yaml: a holonomic base (planar joint: x, y, yaw)
with a column and two 6R arms of lab size. Geometry and masses are inventions.

x forward, y left, z up. Each arm: pan, lift, elbow, three wrist joints; at zero the arms hang straight down.
Pan turns about the sideways axis of the shoulder (the arm swings forward), lift and elbow about parallel axes.
"""

from math import cos, pi, sin

from description import Robot, box, cell_rows, cylinder, sphere, write

MATERIALS = {"shell": (0.92, 0.92, 0.9, 1), "joint": (0.25, 0.4, 0.6, 1), "dark": (0.2, 0.21, 0.23, 1),
             "skin": (0.5, 0.6, 0.55, 1)}

UPPER, FOREARM = 0.41, 0.36  # m, between the parallel axes
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)

# joint: motor inertia kg m^2, gear ratio, effort N m, velocity rad/s, viscous N m s/rad, Coulomb N m
DRIVES = {
    "pan": (8.0e-5, 100, 150, 3.0, 6.0, 7.0), "lift": (8.0e-5, 100, 150, 3.0, 6.5, 7.5),
    "elbow": (5.0e-5, 100, 120, 3.0, 4.0, 5.0), "wrist_1": (1.2e-5, 100, 28, 3.2, 1.0, 1.6),
    "wrist_2": (1.2e-5, 100, 28, 3.2, 1.0, 1.5), "wrist_3": (1.2e-5, 100, 28, 3.2, 0.9, 1.4),
}

robot = Robot("mobile_manipulator", "Synthetic mobile manipulator: planar base and two 6R arms. "
              "Written by generate/mobile_manipulator.py.", MATERIALS)


def base():
    robot.link("floor")
    robot.joint("base_motion", "planar", "floor", "base", axis=Z)
    wheels = [cylinder(0.1, 0.06, (x, y, 0.1), along="y", material="dark", solid=False)
              for x in (-0.28, 0.28) for y in (-0.27, 0.27)]
    robot.link("base", 68.0, box((0.78, 0.6, 0.22), (0, 0, 0.19)), box((0.6, 0.5, 0.1), (-0.02, 0, 0.35), material="dark"),
               *wheels)
    robot.joint("column_mount", "fixed", "base", "column", (-0.12, 0, 0.4))
    robot.link("column", 21.0, box((0.18, 0.2, 0.68), (0, 0, 0.34)), box((0.2, 0.3, 0.2), (0.01, 0, 0.72)),
               sphere(0.08, (0.02, 0, 0.93), material="dark"))


def arm(side, s):
    """s = +1 left, -1 right."""
    n = lambda name: f"{side}_{name}"

    def revolute(name, parent, child, xyz, axis, limit, rpy=(0, 0, 0)):
        effort, velocity = DRIVES[name][2:4]
        robot.joint(n(name), "revolute", parent, child, xyz, rpy, axis, lower=-limit, upper=limit,
                    velocity=velocity, effort=effort)

    # the pan axis points out of the shoulder, to the side
    revolute("pan", "column", n("shoulder"), (0.01, s * 0.15, 0.74), Z, 6.2, (-s * pi / 2, 0, 0))
    robot.link(n("shoulder"), 3.6, cylinder(0.062, 0.14, (0, 0, 0.07)),
               cylinder(0.058, 0.12, (0, 0, 0.09), along="x", material="joint"))
    # the lift axis crosses the pan axis; from here on the frames are parallel to the base's at zero
    revolute("lift", n("shoulder"), n("upper_arm"), (0, 0, 0.09), X, 6.2, (s * pi / 2, 0, 0))
    robot.link(n("upper_arm"), 7.6, cylinder(0.056, 0.11, (0.115, 0, 0), along="x", material="joint"),
               cylinder(0.05, UPPER, (0.125, 0, -UPPER / 2)),
               cylinder(0.052, 0.12, (0.12, 0, -UPPER), along="x", material="joint"))
    revolute("elbow", n("upper_arm"), n("forearm"), (0.065, 0, -UPPER), X, 3.0)
    robot.link(n("forearm"), 2.5, cylinder(0.046, 0.08, (-0.05, 0, 0), along="x", material="joint"),
               cylinder(0.04, FOREARM, (-0.055, 0, -FOREARM / 2), material="skin"),
               cylinder(0.04, 0.08, (-0.05, 0, -FOREARM), along="x", material="joint"))
    revolute("wrist_1", n("forearm"), n("wrist_1_link"), (0.0, 0, -FOREARM), X, 6.2)
    robot.link(n("wrist_1_link"), 1.3, cylinder(0.038, 0.1, (0.045, 0, 0), along="x"),
               cylinder(0.038, 0.09, (0.055, 0, -0.02), material="joint"))
    revolute("wrist_2", n("wrist_1_link"), n("wrist_2_link"), (0.055, 0, -0.065), Z, 6.2)
    robot.link(n("wrist_2_link"), 1.3, cylinder(0.038, 0.08, (0, 0, -0.03)),
               cylinder(0.038, 0.09, (0.01, 0, -0.045), along="x", material="joint"))
    revolute("wrist_3", n("wrist_2_link"), n("tool_flange"), (0.055, 0, -0.045), X, 6.2)
    robot.link(n("tool_flange"), 0.35, cylinder(0.036, 0.04, (0.02, 0, 0), along="x", material="dark"))
    robot.joint(n("wrist_ft_joint"), "fixed", n("tool_flange"), n("hand"), (0.04, 0, 0))
    robot.link(n("hand"), 0.9, box((0.09, 0.1, 0.07), (0.045, 0, 0)),
               box((0.07, 0.015, 0.03), (0.125, 0.035, 0), material="dark"),
               box((0.07, 0.015, 0.03), (0.125, -0.035, 0), material="dark"))


def robot_yaml() -> str:
    out = [f"""# Synthetic mobile manipulator: planar base (x, y, yaw) and two 6R arms, 15 degrees of freedom, {robot.mass():.4g} kg.
# Written by generate/mobile_manipulator.py (geometry, masses, drives and friction are inventions; the inertias
# are those of the shapes at the stated masses).
version: 1
name: mobile_manipulator
urdf: mobile_manipulator.urdf
joints:"""]
    for side in ("left", "right"):
        for name, (inertia, ratio, effort, _, viscous, coulomb) in DRIVES.items():
            out.append(f"""  {side}_{name}:
    drive: {{motor_inertia: {inertia:g}, gear_ratio: {ratio}, torque_limit: {effort}}}
    friction: {{viscous: {viscous}, coulomb: {coulomb}}}""")
    out.append("frames:")
    for side in ("left", "right"):
        out.append(f"  - {{name: {side}_grasp, link: {side}_hand, xyz: [0.14, 0, 0], rpy: [0, 0, 0]}}")
    out.append("  - {name: camera, link: column, xyz: [0.1, 0, 0.93], rpy: [0, 0, 0]}")
    out.append("sensors:")
    for side in ("left", "right"):
        out.append(f"  - {{name: {side}_wrist_ft, type: force_torque, joint: {side}_wrist_ft_joint, "
                   f"link: {side}_hand, sign: 1, noise: 0.1}}")
    out.append("  - {name: base_imu, type: imu, link: base, xyz: [0.1, 0, 0.3], rpy: [0, 0, 0]}")
    out.append("  # each cell: position and outward normal in the link frame")
    for side in ("left", "right"):
        rings = [(-0.055 + 0.04 * cos(a), 0.04 * sin(a), z, cos(a), sin(a), 0) for z in (-0.1, -0.16, -0.22, -0.28)
                 for a in (2 * pi * k / 6 for k in range(6))]
        out.append(f"  - name: {side}_forearm_skin\n    type: skin\n    link: {side}_forearm\n    cells: [\n{cell_rows(rings)}\n    ]")
    bumper = [(0.39, y, z, 1, 0, 0) for z in (0.14, 0.24) for y in (-0.24, -0.12, 0, 0.12, 0.24)]
    out.append(f"  - name: bumper_skin\n    type: skin\n    link: base\n    cells: [\n{cell_rows(bumper)}\n    ]")
    out.append(f"""info:
  payload_kg: 5
  reach_m: 0.85
  mass_kg: {robot.mass():.4g}
  notes: synthetic
""")
    return "\n".join(out)


def files() -> dict[str, str]:
    base()
    arm("left", 1)
    arm("right", -1)
    return {"mobile_manipulator.urdf": robot.urdf(), "mobile_manipulator.yaml": robot_yaml()}


if __name__ == "__main__":
    write(files())
