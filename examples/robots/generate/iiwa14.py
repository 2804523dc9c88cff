"""Standard parameters of the iiwa 14 twin (the `links` block of ../iiwa14.yaml).

The published 43 inertial base parameters of the real arm (target below) are not those of any possible
body: at link 3 XXR = ZZR leaves no extent along x, yet XY3 is not zero. This script finds the possible
arm that is closest to them:

  1. minimise || base(chi) - target ||_2 over the standard parameters chi,
     subject to D_j(chi) >= 0.1 D_j(prior) for the 4x4 pseudo-inertia D_j of every link,
     mass within 0.7 .. 1.5 of the prior's, centre of mass within the inner 80 % of the prior's cylinder;
  2. among all chi whose distance is at most 2 % larger, take the one of least entropic divergence
     sum_j tr(D_prior^-1 D_j) - log det D_j from the prior, which settles the unidentifiable directions.

The prior is a row of solid cylinders of plausible masses. Needs numpy and cvxpy; writes to stdout.
"""

import cvxpy as cp
import numpy as np

ALPHA_SIGN = [0, -1, 1, 1, -1, -1, 1]  # alpha_j = sign * pi/2
OFFSET = [0, 0, 0.42, 0, 0.40, 0, 0]  # r_j (d in modified DH as in the YAML file), m
MARGIN, MASS_LOW, MASS_HIGH, COM_INNER = 0.1, 0.7, 1.5, 0.8

# mass, cylinder axis (0 x, 1 y, 2 z), centre, radius, length in the link frame
PRIOR = [
    (4.0, 2, (0, -0.02, -0.08), 0.070, 0.26),
    (4.2, 1, (0, -0.06, 0.02), 0.070, 0.26),
    (3.6, 2, (0, 0.02, -0.14), 0.065, 0.28),
    (3.2, 1, (0, 0.06, 0.02), 0.060, 0.24),
    (2.8, 2, (0, -0.02, -0.14), 0.055, 0.26),
    (2.0, 1, (0, -0.02, -0.01), 0.050, 0.14),
    (0.7, 2, (0, 0, 0.09), 0.040, 0.09),
]

TARGET = {
    "ZZR1": 0.0643, "XXR2": 2.2711, "ZZR2": 2.3975, "MYR2": -5.9099, "XXR3": 0.0070, "ZZR3": 0.0070,
    "MYR3": -0.0359, "XXR4": 0.8110, "ZZR4": 0.8213, "MYR4": 2.3750, "XXR5": 0.0094, "ZZR5": 0.0145,
    "MYR5": -0.0762, "XXR6": 0.0145, "ZZR6": 0.0175, "MYR6": -0.1166, "XXR7": 0.0010, "MY7": 0.0008,
    "ZZ7": 0.0013,
}
for link, values in {
    2: (-0.0079, 0.0081, 0.0485, 0.0072), 3: (0.0062, 0.0087, 0, 0.0142),
    4: (-0.0020, -0.0026, 0.0039, 0.0012), 5: (-0.0009, 0.0043, -0.0045, 0.0004),
    6: (0.0016, -0.0011, 0.0001, -0.0008), 7: (0, -0.0007, -0.0002, -0.0032),
}.items():
    TARGET.update({f"{k}{link}": v for k, v in zip(("XY", "XZ", "YZ", "MX"), values)})
assert len(TARGET) == 43


def standard(D):
    """The ten parameters (inertia about the frame origin) from a pseudo-inertia."""
    return {"M": D[3, 3], "MX": D[0, 3], "MY": D[1, 3], "MZ": D[2, 3],
            "XX": D[1, 1] + D[2, 2], "XY": -D[0, 1], "XZ": -D[0, 2],
            "YY": D[0, 0] + D[2, 2], "YZ": -D[1, 2], "ZZ": D[0, 0] + D[1, 1]}


def base(links):
    """The 43 base parameters: YY, MZ, M of each link regrouped onto the link before it."""
    out = {"ZZR1": links[0]["ZZ"] + links[1]["YY"]}
    for j in range(1, 6):  # 0-based link; regroups link j+1
        link, after = links[j], links[j + 1]
        sign, r = ALPHA_SIGN[j + 1], OFFSET[j + 1]
        beyond = sum(l["M"] for l in links[j + 1:])
        yy = after["YY"] + 2 * r * after["MZ"] + r * r * beyond
        out[f"XXR{j + 1}"] = link["XX"] - link["YY"] + yy
        out[f"ZZR{j + 1}"] = link["ZZ"] + yy
        out[f"MYR{j + 1}"] = link["MY"] - sign * (after["MZ"] + r * beyond)
    out["XXR7"] = links[6]["XX"] - links[6]["YY"]
    out["MY7"], out["ZZ7"] = links[6]["MY"], links[6]["ZZ"]
    for j in range(1, 7):
        out.update({f"{k}{j + 1}": links[j][k] for k in ("XY", "XZ", "YZ", "MX")})
    return out


def cylinder(mass, axis, centre, radius, length):
    second = np.eye(3) * mass * radius**2 / 4
    second[axis, axis] = mass * length**2 / 12
    c = np.array(centre)
    return np.block([[second + mass * np.outer(c, c), mass * c[:, None]], [mass * c[None, :], mass]])


def main():
    priors = [cylinder(*p) for p in PRIOR]
    D = [cp.Variable((4, 4), symmetric=True) for _ in PRIOR]
    constraints = []
    for Dj, prior, (mass, axis, centre, radius, length) in zip(D, priors, PRIOR):
        constraints += [Dj >> MARGIN * prior, Dj[3, 3] >= MASS_LOW * mass, Dj[3, 3] <= MASS_HIGH * mass]
        for i in range(3):
            half = COM_INNER * (length / 2 if i == axis else radius)
            constraints += [Dj[i, 3] >= (centre[i] - half) * Dj[3, 3],
                            Dj[i, 3] <= (centre[i] + half) * Dj[3, 3]]
    values = base([standard(Dj) for Dj in D])
    error = cp.hstack([values[k] - v for k, v in TARGET.items()])
    first = cp.Problem(cp.Minimize(cp.sum_squares(100 * error)), constraints)
    first.solve(solver=cp.CLARABEL)
    distance = np.linalg.norm(error.value)
    divergence = sum(cp.trace(np.linalg.inv(p) @ Dj) - cp.log_det(Dj) for Dj, p in zip(D, priors))
    second = cp.Problem(cp.Minimize(divergence), constraints + [cp.norm(error) <= 1.02 * distance])
    second.solve(solver=cp.CLARABEL)
    print(f"# distance {distance:.5f} ({first.status}), then {np.linalg.norm(error.value):.5f} ({second.status})")
    for j, Dj in enumerate(D):
        l = {k: float(v) + 0.0 for k, v in standard(np.round(Dj.value, 6)).items()}
        moment = ", ".join(f"{round(l[k], 6):g}" for k in ("MX", "MY", "MZ"))
        inertia = ", ".join(f"{round(l[k], 6):g}" for k in ("XX", "XY", "XZ", "YY", "YZ", "ZZ"))
        print(f"    link_{j + 1}:\n      mass: {round(l['M'], 6):.7g}\n      first_moment: [{moment}]\n"
              f"      inertia: [{inertia}]")


if __name__ == "__main__":
    main()
