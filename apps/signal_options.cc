#include "apps/signal_options.h"

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/signal/recording_filter.h"

namespace proprio::apps {

void addSignalOptions(CLI::App& verb, SignalFlags& flags) {
  const char* group = "Signals";
  verb.add_option("--cutoff", flags.cutoff,
                  "of the zero-phase low-pass, in Hz; one, or one per joint; default: from the "
                  "joint's own spectrum")
      ->delimiter(',')
      ->type_name("HZ")
      ->group(group);
  verb.add_option("--order", flags.order, "of the low-pass")->capture_default_str()->group(group);
  verb.add_option("--rows-at", flags.rows_at,
                  "rate of the rows that are used, in Hz; default: ten times the bandwidth, at "
                  "least twice the cut-off")
      ->check(CLI::PositiveNumber)
      ->type_name("HZ")
      ->group(group);
  verb.add_option("--low-speed", flags.low_speed,
                  "slower samples do not count for a joint with dry friction, rad/s; one, or one "
                  "per joint; default: 1 % of its speed")
      ->delimiter(',')
      ->type_name("SPEED")
      ->group(group);
  verb.add_option("--derivative", flags.derivative,
                  "central, central-twice, backward, savgol, adaptive or fourier (whole periods)")
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  verb.add_option("--resample", flags.resample,
                  "onto a constant rate in Hz; jittery stamps are resampled at their median rate "
                  "anyway")
      ->type_name("HZ")
      ->group(group);
  verb.add_option("--hampel", flags.hampel, "replace outliers; window in samples, odd")
      ->type_name("N")
      ->group(group);
  verb.add_option("--rate", flags.rate, "of recordings without time stamps, in Hz")
      ->check(CLI::PositiveNumber)
      ->type_name("HZ")
      ->group(group);
  verb.add_flag("--no-filter", flags.no_filter, "differentiate and thin out only")->group(group);
  verb.add_flag("--raw-torque", flags.raw_torque, "do not filter torques")->group(group);
  verb.add_flag("--measured-velocity", flags.measured_velocity,
                "differentiate recorded velocities instead of positions")
      ->group(group);
  verb.add_flag("--as-recorded", flags.as_recorded,
                "rows are states of their own, in any order: recorded velocities and accelerations "
                "as they are, nothing filtered")
      ->group(group);
  verb.add_flag("--at-rest", flags.at_rest,
                "rows are postures in which the robot rests (see excite --postures): torques show "
                "gravity only")
      ->group(group);
}

JointSignalOptions jointSignalOptions(const SignalFlags& flags) {
  JointSignalOptions options;
  options.cutoff_hz = flags.cutoff;
  options.low_speed = flags.low_speed;
  options.order = flags.order;
  options.decimated_rate_hz = flags.rows_at;
  options.rate_hz = flags.rate;
  options.hampel_window = flags.hampel;
  options.filter = !flags.no_filter;
  options.filter_torque = !flags.raw_torque;
  options.as_recorded = flags.as_recorded;
  options.at_rest = flags.at_rest;
  if (!flags.resample.empty()) options.resample = parseResampling(flags.resample);
  if (flags.measured_velocity) options.velocity = VelocitySource::kMeasured;
  struct Named {
    const char* name;
    DerivativeMethod method;
  };
  constexpr Named kNames[] = {
      {"central", DerivativeMethod::kCentral},   {"central-twice", DerivativeMethod::kCentralTwice},
      {"backward", DerivativeMethod::kBackward}, {"savgol", DerivativeMethod::kSavitzkyGolay},
      {"adaptive", DerivativeMethod::kAdaptive}, {"fourier", DerivativeMethod::kFourier}};
  std::vector<std::string> names;
  for (const Named& named : kNames) {
    if (flags.derivative == named.name) {
      options.derivative = named.method;
      return options;
    }
    names.emplace_back(named.name);
  }
  throw Error("--derivative: there is no " + inQuotes(flags.derivative) +
              didYouMean(flags.derivative, names));
}

}  // namespace proprio::apps
