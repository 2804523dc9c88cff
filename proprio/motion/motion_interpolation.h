#pragma once

/// Samples as a motion that is defined at every time.
///   previous   the last sample so far holds; velocity and acceleration are zero; the very last
///              sample only says when the motion ends
///   nearest    the same with the nearest sample
///   linear     straight lines; exact for motions of constant velocity
///   cubic      third degree between samples with the samples' velocities (exact for polynomials of
///              third degree) or, where there are none, with modified Akima slopes, which do not
///              overshoot flat parts; velocity is continuous
///   quintic    fifth degree with the samples' velocities and accelerations (exact for polynomials
///              of fifth degree); where there are none, the minimum-jerk spline with natural ends
///              (quintic_spline.h); acceleration is continuous. Between two samples that one jump
///              of a constant acceleration explains (a trapezoid of velocity) it jumps there, where
///              a polynomial would overshoot by a third
/// Source: Akima 1970 with the weights of MATLAB's makima; Leboutet 2022 section 5.2.3 (L-11).

#include <optional>
#include <string>

#include "proprio/motion/piecewise_polynomial.h"

namespace proprio {

enum class MotionInterpolation { kPrevious, kNearest, kLinear, kCubic, kQuintic };
const char* toString(MotionInterpolation interpolation);
/// Empty for a name that is none of those above.
std::optional<MotionInterpolation> motionInterpolationNamed(const std::string& name);

/// quintic where the samples have velocities and accelerations, cubic otherwise.
MotionInterpolation naturalInterpolation(const MotionSamples& samples);

/// Velocities and accelerations of the samples may be missing (no rows). A single sample is a
/// standstill of no duration. The motion starts at the time of the first sample, which becomes 0.
/// @throws Error that names the sample for times that do not ascend or numbers that are not finite;
/// for no samples or sizes that differ.
PiecewisePolynomial interpolated(const MotionSamples& samples, MotionInterpolation interpolation);

}  // namespace proprio
