// A log of unknown layout, mapped to the joints of a robot by what its robot.yaml declares.

#include <filesystem>
#include <iostream>

#include "proprio/core/atomic_file.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/quality.h"
#include "proprio/recording/signal_map.h"

int main() {
  // what a drive wrote: semicolons, decimal commas, degrees at the motor, no time stamps
  std::string log = "shoulder;elbow\n";
  for (int i = 0; i < 500; ++i) log += std::to_string(i) + ",5;" + std::to_string(-i) + ",25\n";
  const std::string file = std::filesystem::temp_directory_path() / "proprio_drive_log.csv";
  proprio::writeFileAtomically(file, log);

  // what people know about it, in robot.yaml
  const proprio::Model robot = proprio::readRobotYamlText(R"(
version: 1
urdf: planar_2r.urdf
joints:
  shoulder: {drive: {gear_ratio: 100}}
  elbow: {drive: {gear_ratio: -50}}
recording:
  rate: 250
  signals:
    - {quantity: position, side: motor, channels: "{joint}", unit: deg, offset: [0, pi/2]}
)",
                                                          "examples/robots/robot.yaml");

  const proprio::Recording motion = proprio::readRobotRecording(robot, file);
  for (const proprio::Channel& channel : motion.channels)
    std::cout << channel.name << " [" << channel.unit << "] from " << channel.origin << '\n';
  const proprio::Quality quality = proprio::assessQuality(motion);
  std::cout << motion.samples() << " samples at " << quality.time.rate_hz << " Hz\n";
  for (const proprio::QualityFinding& finding : quality.findings)
    std::cout << toString(finding.severity) << ": " << finding.about << ' ' << finding.sentence
              << '\n';
  return motion.column("q_elbow") >= 0 ? 0 : 1;
}
