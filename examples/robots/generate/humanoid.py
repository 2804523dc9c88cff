"""Writes ../humanoid.urdf and ../humanoid.yaml: a synthetic humanoid of human size.

30 revolute joints (2 x 6 legs, 2 x 7 arms, 2 waist, 2 neck), floating base, about 1.70 m and 70 kg.
x forward, y left, z up; zero position: standing, arms hanging. Geometry and masses are inventions.
"""

from math import cos, pi, sin

from description import Robot, box, cell_rows, cylinder, sphere, write

MATERIALS = {"shell": (0.9, 0.91, 0.93, 1), "joint": (0.28, 0.3, 0.34, 1), "accent": (0.16, 0.45, 0.75, 1),
             "skin": (0.55, 0.62, 0.68, 1)}

# joint class: motor inertia kg m^2, gear ratio, effort N m, velocity rad/s, viscous N m s/rad, Coulomb N m
DRIVES = {
    "hip": (8.0e-5, 100, 160, 7.0, 2.2, 4.5),
    "knee": (8.0e-5, 120, 200, 7.0, 2.6, 5.5),
    "ankle": (6.0e-5, 100, 120, 7.0, 1.6, 3.5),
    "waist": (8.0e-5, 100, 140, 5.0, 2.0, 4.0),
    "shoulder": (2.5e-5, 100, 60, 6.0, 0.9, 2.2),
    "elbow": (2.5e-5, 100, 45, 6.0, 0.7, 1.8),
    "wrist": (5.0e-6, 80, 12, 8.0, 0.15, 0.45),
    "neck": (5.0e-6, 80, 10, 6.0, 0.12, 0.4),
}

robot = Robot("humanoid", "Synthetic 30-DoF humanoid, 1.70 m. Written by generate/humanoid.py.", MATERIALS)
drives: dict[str, str] = {}  # joint -> class


def revolute(name, kind, parent, child, xyz, axis, lower, upper):
    effort, velocity = DRIVES[kind][2:4]
    drives[name] = kind
    robot.joint(name, "revolute", parent, child, xyz, axis=axis, lower=lower, upper=upper, velocity=velocity,
                effort=effort)


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def trunk():
    robot.link("pelvis", 8.0, box((0.17, 0.26, 0.12), (-0.01, 0, 0.06)),
               cylinder(0.055, 0.1, (0, 0, 0.03), along="x", material="joint"))
    revolute("waist_yaw", "waist", "pelvis", "waist", (0.0, 0, 0.13), Z, -1.2, 1.2)
    robot.link("waist", 2.2, cylinder(0.07, 0.07, (0, 0, 0.035), material="joint"))
    revolute("waist_pitch", "waist", "waist", "torso", (0.005, 0, 0.065), Y, -0.5, 1.2)
    robot.link("torso", 15.5, box((0.17, 0.25, 0.16), (0.0, 0, 0.09)), box((0.2, 0.33, 0.2), (0.005, 0, 0.27)),
               cylinder(0.045, 0.03, (-0.005, 0, 0.385), material="joint"),
               box((0.004, 0.24, 0.15), (0.107, 0, 0.28), material="skin", solid=False))
    revolute("neck_yaw", "neck", "torso", "neck", (-0.005, 0, 0.4), Z, -1.3, 1.3)
    robot.link("neck", 0.7, cylinder(0.035, 0.06, (0, 0, 0.03), material="joint"))
    revolute("neck_pitch", "neck", "neck", "head", (0.008, 0, 0.05), Y, -0.5, 0.8)
    robot.link("head", 3.4, sphere(0.09, (0.01, 0, 0.095)), box((0.1, 0.13, 0.06), (0.04, 0, 0.02)),
               box((0.02, 0.12, 0.035), (0.093, 0, 0.105), material="accent", solid=False))


def leg(side, s):
    """s = +1 left, -1 right."""
    n = lambda name: f"{side}_{name}"
    revolute(n("hip_yaw"), "hip", "pelvis", n("hip_yaw_link"), (-0.005, s * 0.09, 0.0), Z,
             *((-0.6, 0.9) if s > 0 else (-0.9, 0.6)))
    robot.link(n("hip_yaw_link"), 1.3, cylinder(0.055, 0.05, (0, 0, -0.03), material="joint"))
    revolute(n("hip_roll"), "hip", n("hip_yaw_link"), n("hip_roll_link"), (0.0, s * 0.004, -0.07), X,
             *((-0.5, 0.8) if s > 0 else (-0.8, 0.5)))
    robot.link(n("hip_roll_link"), 1.4, cylinder(0.05, 0.13, (-0.01, 0, 0), along="x", material="joint"))
    revolute(n("hip_pitch"), "hip", n("hip_roll_link"), n("thigh"), (0.006, 0, 0.0), Y, -2.0, 0.8)
    robot.link(n("thigh"), 5.6, cylinder(0.062, 0.11, along="y"), cylinder(0.065, 0.26, (0, 0, -0.17)),
               box((0.1, 0.09, 0.1), (0.002, 0, -0.32)))
    revolute(n("knee"), "knee", n("thigh"), n("shank"), (0.004, 0, -0.37), Y, 0.0, 2.4)
    robot.link(n("shank"), 3.2, cylinder(0.052, 0.11, along="y", material="joint"),
               cylinder(0.048, 0.26, (-0.008, 0, -0.17)))
    revolute(n("ankle_pitch"), "ankle", n("shank"), n("ankle_link"), (-0.006, 0, -0.34), Y, -1.1, 0.8)
    robot.link(n("ankle_link"), 0.6, cylinder(0.032, 0.09, along="y", material="joint"))
    revolute(n("ankle_roll"), "ankle", n("ankle_link"), n("ankle_plate"), (0.003, 0, -0.012), X, -0.5, 0.5)
    robot.link(n("ankle_plate"), 0.45, cylinder(0.035, 0.03, (0, 0, -0.028), material="joint"))
    robot.joint(n("ankle_ft_joint"), "fixed", n("ankle_plate"), n("foot"), (0, 0, -0.043))
    robot.link(n("foot"), 1.05, box((0.24, 0.1, 0.03), (0.035, 0, -0.02)),
               box((0.09, 0.07, 0.02), (0.0, 0, 0.003), material="accent"))


def arm(side, s):
    n = lambda name: f"{side}_{name}"
    revolute(n("shoulder_pitch"), "shoulder", "torso", n("shoulder_link"), (0.0, s * 0.19, 0.32), Y, -2.9, 1.2)
    robot.link(n("shoulder_link"), 1.2, cylinder(0.05, 0.07, (0, s * 0.012, 0), along="y", material="joint"))
    revolute(n("shoulder_roll"), "shoulder", n("shoulder_link"), n("upper_arm_top"), (0.006, s * 0.05, 0), X,
             *((-0.2, 2.6) if s > 0 else (-2.6, 0.2)))
    robot.link(n("upper_arm_top"), 1.1, sphere(0.055), cylinder(0.045, 0.06, (0, s * 0.004, -0.07)))
    revolute(n("shoulder_yaw"), "shoulder", n("upper_arm_top"), n("upper_arm"), (0, s * 0.004, -0.1), Z, -1.6, 1.6)
    robot.link(n("upper_arm"), 1.4, cylinder(0.045, 0.15, (0, 0, -0.075), material="accent"))
    revolute(n("elbow"), "elbow", n("upper_arm"), n("elbow_link"), (-0.008, 0, -0.18), Y, -2.3, 0.05)
    robot.link(n("elbow_link"), 0.9, cylinder(0.042, 0.09, along="y", material="joint"),
               cylinder(0.04, 0.06, (0.006, 0, -0.06)))
    revolute(n("forearm_yaw"), "wrist", n("elbow_link"), n("forearm"), (0.006, 0, -0.09), Z, -2.0, 2.0)
    robot.link(n("forearm"), 0.9, cylinder(0.04, 0.15, (0, 0, -0.075), material="skin"))
    revolute(n("wrist_pitch"), "wrist", n("forearm"), n("wrist_link"), (0, 0, -0.17), Y, -1.0, 1.0)
    robot.link(n("wrist_link"), 0.25, cylinder(0.026, 0.06, along="y", material="joint"))
    revolute(n("wrist_roll"), "wrist", n("wrist_link"), n("wrist_plate"), (0.002, 0, -0.006), X, -0.6, 0.6)
    robot.link(n("wrist_plate"), 0.25, cylinder(0.028, 0.03, (0, 0, -0.03), material="joint"))
    robot.joint(n("wrist_ft_joint"), "fixed", n("wrist_plate"), n("hand"), (0, 0, -0.045))
    robot.link(n("hand"), 0.45, box((0.075, 0.03, 0.09), (0, 0, -0.05)),
               box((0.055, 0.025, 0.05), (0.004, -s * 0.006, -0.115), material="joint"),
               box((0.02, 0.022, 0.05), (0.045, -s * 0.012, -0.06), (0, -0.5, 0), material="joint"))


def robot_yaml() -> str:
    out = [f"""# Synthetic humanoid of human size: 30 revolute joints, floating base, {robot.mass():.4g} kg.
# Written by generate/humanoid.py (geometry, masses, drives and friction are inventions; the inertias are those
# of the shapes at the stated masses).
# Inertial base parameters: 10 + 7 x 30 = 220 with the rows of the floating base.
# The force-torque sensors sit on fixed joints, which stay in the model: hands and feet are links of their own.
version: 1
name: humanoid
urdf: humanoid.urdf
base: {{link: pelvis, floating: true}}
joints:"""]
    for name, kind in drives.items():
        inertia, ratio, effort, _, viscous, coulomb = DRIVES[kind]
        out.append(f"""  {name}:
    drive: {{motor_inertia: {inertia:g}, gear_ratio: {ratio}, torque_limit: {effort}}}
    friction: {{viscous: {viscous}, coulomb: {coulomb}}}""")
    out.append("frames:")
    for side in ("left", "right"):
        out.append(f"  - {{name: {side}_sole, link: {side}_foot, xyz: [0, 0, -0.035], rpy: [0, 0, 0]}}")
        out.append(f"  - {{name: {side}_palm, link: {side}_hand, xyz: [0, 0, -0.08], rpy: [0, 0, 0]}}")
    out.append("  - {name: camera, link: head, xyz: [0.1, 0, 0.105], rpy: [0, 0, 0]}")
    out.append("sensors:")
    for side in ("left", "right"):
        for part, link in (("ankle", "foot"), ("wrist", "hand")):
            noise = 0.2 if part == "ankle" else 0.05
            out.append(f"  - {{name: {side}_{part}_ft, type: force_torque, joint: {side}_{part}_ft_joint, "
                       f"link: {side}_{link}, sign: 1, noise: {noise}}}")
    out.append("  - {name: torso_imu, type: imu, link: torso, xyz: [-0.03, 0.01, 0.2], rpy: [0, 0, 0]}")
    chest = [(0.109, -0.1 + 0.05 * i, 0.22 + 0.03 * j, 1, 0, 0) for j in range(5) for i in range(5)]
    out.append("  # each cell: position and outward normal in the link frame")
    out.append(f"  - name: chest_skin\n    type: skin\n    link: torso\n    cells: [\n{cell_rows(chest)}\n    ]")
    for side in ("left", "right"):
        rings = [(0.04 * cos(a), 0.04 * sin(a), z, cos(a), sin(a), 0) for z in (-0.035, -0.075, -0.115)
                 for a in (2 * pi * k / 6 for k in range(6))]
        out.append(f"  - name: {side}_forearm_skin\n    type: skin\n    link: {side}_forearm\n    cells: [\n{cell_rows(rings)}\n    ]")
    out.append(f"""info:
  payload_kg: 4
  height_m: 1.7
  mass_kg: {robot.mass():.4g}
  notes: synthetic
""")
    return "\n".join(out)


def files() -> dict[str, str]:
    trunk()
    for side, s in (("left", 1), ("right", -1)):
        leg(side, s)
        arm(side, s)
    assert len(drives) == 30
    return {"humanoid.urdf": robot.urdf(), "humanoid.yaml": robot_yaml()}


if __name__ == "__main__":
    write(files())
