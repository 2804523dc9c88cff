#include "proprio/identification/sensed_wrenches.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>
#include <random>

#include "proprio/dynamics/joint_effects.h"
#include "proprio/identification/diagnosis.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/method.h"
#include "proprio/identification/recursive_least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/recording/signal_names.h"
#include "proprio/simulation/sensor_readings.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr double kRounding = 1e-9;  // of a long chain of products, relative

/// A recording that has all channels of the robot's sensors and nothing in them.
Recording emptyRecording(const Model& model) {
  Recording recording;
  for (const Sensor& sensor : model.sensors) {
    const auto add = [&](Quantity quantity) {
      for (const std::string& component : componentsOf(quantity))
        recording.channels.push_back(
            channelNamed(signalName(quantity, Role::kMeasured, sensor.name, component)));
    };
    if (sensor.kind == SensorKind::kForceTorque) {
      add(Quantity::kForce);
      add(Quantity::kMoment);
    }
    if (sensor.kind == SensorKind::kAccelerometer) add(Quantity::kLinearAcceleration);
    if (sensor.kind == SensorKind::kGyroscope) add(Quantity::kAngularVelocity);
  }
  recording.values.resize(0, static_cast<Index>(recording.channels.size()));
  return recording;
}

/// What sensors and drives of a robot read at random states, by routes that know nothing of rows:
/// inverse dynamics of the robot as it was read, and the sensor models of the simulator.
class Readings {
 public:
  /// @param pushed  links on which random wrenches act, in the first `pushes` samples
  Readings(const Model& model, const std::vector<std::string>& pushed, Index pushes, Index samples,
           unsigned seed)
      : tree_(std::make_shared<const Model>(model)),
        parameters_(declaredParameters(tree_.sharedModel())),
        compiled_(compileParameters(tree_, parameters_)),
        workspace_(tree_),
        random_(seed),
        pushes_(pushes) {
    for (const std::string& name : pushed) pushed_.push_back(requireLink(model, name));
    for (const Joint& joint : model.joints) {
      if (joint.velocity_index >= 0) signals.joints.push_back(joint.name);
    }
    const auto n = static_cast<Index>(signals.joints.size());
    signals.q = signals.v = signals.a = signals.tau = Eigen::MatrixXd(samples, n);
    signals.time = Eigen::VectorXd::LinSpaced(samples, 0.0, 1.0);
    signals.cutoffs.resize(static_cast<size_t>(n));
    for (CutoffChoice& choice : signals.cutoffs) choice.moves = true;
    signals.moving = Mask::Constant(samples, n, true);
    for (Index k = 0; k < samples; ++k) addSample(k);
  }

  JointSignals signals;  ///< channels: all force-torque sensors, accelerometers, gyroscopes

 private:
  double uniform(double size) {
    return std::uniform_real_distribution<double>(-size, size)(random_);
  }

  /// The acceleration of the base that needs no wrench on it.
  void fallFreely(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const LinkWrenches& external,
                  Eigen::VectorXd* a) {
    const auto wrench = [&](const Vector6d& base) {
      a->head<6>() = base;
      Eigen::VectorXd tau(tree_.velocityCount());
      inverseDynamics(tree_, compiled_, workspace_, q, v, *a, tau, &external);
      return Vector6d(tau.head<6>());
    };
    const Vector6d rest = wrench(Vector6d::Zero());
    Matrix6d M;
    for (Index i = 0; i < 6; ++i) M.col(i) = wrench(Vector6d::Unit(i)) - rest;
    a->head<6>() = M.partialPivLu().solve(-rest);
  }

  void addSample(Index k) {
    const Model& model = tree_.model();
    const int base_q = tree_.floating() ? 7 : 0, base_v = tree_.floating() ? 6 : 0;
    Eigen::VectorXd q =
        Eigen::VectorXd::NullaryExpr(tree_.positionCount(), [&] { return uniform(2.0); });
    Eigen::VectorXd v =
        Eigen::VectorXd::NullaryExpr(tree_.velocityCount(), [&] { return uniform(2.0); });
    Eigen::VectorXd a =
        Eigen::VectorXd::NullaryExpr(tree_.velocityCount(), [&] { return uniform(5.0); });
    if (tree_.floating()) q.segment<4>(3).normalize();
    LinkWrenches external = LinkWrenches::Zero(6, static_cast<Index>(model.links.size()));
    for (const int link : pushed_) {
      for (double& x : external.col(link)) x = k < pushes_ ? 200.0 + uniform(100.0) : 0.0;
    }
    if (tree_.floating()) fallFreely(q, v, external, &a);
    Eigen::VectorXd tau(tree_.velocityCount());
    inverseDynamics(tree_, compiled_, workspace_, q, v, a, tau, &external);
    addJointEffects(tree_, parameters_, q, v, a, tau);
    const Index n = signals.q.cols();
    signals.q.row(k) = q.segment(base_q, n).transpose();
    signals.v.row(k) = v.segment(base_v, n).transpose();
    signals.a.row(k) = a.segment(base_v, n).transpose();
    signals.tau.row(k) = tau.segment(base_v, n).transpose();
    std::vector<LinkMotion> motions;
    linkMotions(tree_, q, v, a, &motions);
    std::vector<double> values, rates;
    for (const SensorKind kind :
         {SensorKind::kForceTorque, SensorKind::kAccelerometer, SensorKind::kGyroscope}) {
      for (const SensorPlan& plan : planSensors(tree_)) {
        const Sensor& sensor = model.sensors[static_cast<size_t>(plan.sensor)];
        if (sensor.kind != kind) continue;
        Eigen::VectorXd reading(static_cast<Index>(sensorAxes(sensor)));
        idealReading(tree_, parameters_, plan, motions, &external, Vector3d::UnitX(), reading);
        for (size_t i = 0; i < sensor.bias.size(); ++i)
          reading[static_cast<Index>(i)] += sensor.bias[i];
        values.insert(values.end(), reading.begin(), reading.end());
        // the derivative of a gyroscope's reading is the angular acceleration in its axes
        const Vector3d turning = sensor.X_LS.R.transpose() *
                                 motions[static_cast<size_t>(sensor.link)].acceleration.angular;
        for (Index i = 0; i < reading.size(); ++i)
          rates.push_back(kind == SensorKind::kGyroscope ? turning[i] : 0.0);
      }
    }
    const auto width = static_cast<Index>(values.size());
    if (k == 0) signals.channels = signals.channel_rates = Eigen::MatrixXd(signals.q.rows(), width);
    signals.channels.row(k) = Eigen::RowVectorXd::Map(values.data(), width);
    signals.channel_rates.row(k) = Eigen::RowVectorXd::Map(rates.data(), width);
  }

  Tree tree_;
  Parameters parameters_;
  CompiledParameters compiled_;
  Workspace workspace_;
  std::mt19937_64 random_;
  std::vector<int> pushed_;
  Index pushes_;
};

Model humanoid() {
  Model model = readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/humanoid.yaml");
  for (Joint& joint : model.joints) {  // smooth at rest: every row counts
    joint.friction.terms.clear();
    joint.drive.declared = false;
  }
  return finalize(std::move(model));
}

/// Three joints, a force-torque sensor that is mounted askew, a fourth joint and a tool.
Model armWithSensor(const std::vector<double>& bias) {
  Model arm;
  arm.name = "arm";
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto vector = [&](double size) {
    return Vector3d(size * uniform(random), size * uniform(random), size * uniform(random));
  };
  for (int i = 0; i < 6; ++i) {
    Link link;
    link.name = "link" + std::to_string(i);
    link.inertia = InertialParameters::fromCom(1.0 + 0.3 * i, vector(0.1),
                                               Vector3d(0.02, 0.03, 0.04).asDiagonal());
    arm.links.push_back(link);
  }
  for (int i = 0; i < 5; ++i) {
    Joint joint;
    joint.name = "joint" + std::to_string(i + 1);
    joint.type = i == 3 ? JointType::kFixed : JointType::kContinuous;
    // the sensor's joint is declared from the tip inwards
    joint.first = i == 3 ? i + 1 : i;
    joint.second = i == 3 ? i : i + 1;
    joint.X_FJ = {rotationExp(vector(1.0)), vector(0.3)};
    joint.X_JS = {rotationExp(vector(1.0)), vector(0.1)};
    joint.axis = vector(1.0).normalized();
    arm.joints.push_back(joint);
  }
  Sensor sensor;
  sensor.name = "wrist";
  sensor.kind = SensorKind::kForceTorque;
  sensor.joint = 3;
  sensor.link = 3;
  sensor.sign = -1.0;
  sensor.X_LS = {rotationExp(vector(1.0)), vector(0.2)};
  sensor.bias = bias;
  arm.sensors.push_back(sensor);
  return finalize(std::move(arm));
}

struct SensedProblem {
  std::shared_ptr<const Tree> tree;
  IdentificationProblem problem;
  Eigen::VectorXd truth;
  std::vector<std::string> told;
};

/// @param model  that the readings are of
/// @param known  the same as far as identification knows it
SensedProblem sensedProblem(const Model& model, const Model& known,
                            const std::vector<std::string>& pushed,
                            const std::vector<std::string>& touching, Index samples,
                            Index pushes = std::numeric_limits<Index>::max()) {
  SensedProblem out;
  const Model sensed = withSensedWrenches(known, {emptyRecording(known)}, &out.told);
  out.tree = std::make_shared<const Tree>(std::make_shared<const Model>(sensed));
  const Readings readings(model, pushed, pushes, samples, 3);
  MotionData data = motionData(*out.tree, readings.signals);
  addSensedWrenches(*out.tree, readings.signals, touching, &data, &out.told);
  out.problem = identificationProblem(out.tree, {data});
  out.truth = testing::declaredValues(*out.tree);
  return out;
}

/// Noise-free least squares gives back the base parameters of `truth`.
void expectRecovered(const IdentificationProblem& problem, const Eigen::VectorXd& truth) {
  const Eigen::VectorXd found = identify("wls", problem).beta;
  const Eigen::VectorXd expected = splitParameters(problem.base, truth).beta;
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.cwiseAbs().maxCoeff());
}

/// Rows of free parts equal regressor times true parameters, with pushes beyond the sensors.
TEST(SensedWrenches, RowsOfAFreeRobotBalance) {
  const Model model = humanoid();
  const std::vector<std::string> feet = {"left_foot", "right_foot"};
  const SensedProblem sensed = sensedProblem(model, model, feet, feet, 200);
  const MotionData& data = sensed.problem.data[0];
  const Eigen::MatrixXd predicted =
      predictTorques(*sensed.tree, *sensed.problem.layout, sensed.truth, data);
  const double size = data.tau.cwiseAbs().maxCoeff();
  int counted = 0;
  for (Index j = 0; j < data.tau.cols(); ++j) {
    if (!data.use.col(j).all()) continue;
    ++counted;
    EXPECT_LT((predicted.col(j) - data.tau.col(j)).cwiseAbs().maxCoeff(), kRounding * size)
        << coordinateNames(*sensed.tree)[static_cast<size_t>(j)];
  }
  EXPECT_EQ(counted, 6 + 30 + 2 * 6);  // base, joints, hands; not the feet
}

/// A foot that carries the robot is noticed.
TEST(SensedWrenches, FeetAreFound) {
  const Model model = humanoid();
  const SensedProblem sensed = sensedProblem(model, model, {"left_foot"}, {}, 60);
  const std::vector<std::string> names = coordinateNames(*sensed.tree);
  for (size_t j = 0; j < names.size(); ++j) {
    const bool counts = sensed.problem.data[0].use.col(static_cast<Index>(j)).all();
    EXPECT_EQ(counts, !names[j].starts_with("left_ankle_ft ")) << names[j];
    EXPECT_EQ(counts, sensed.problem.data[0].use.col(static_cast<Index>(j)).any());
  }
  EXPECT_TRUE(std::any_of(sensed.told.begin(), sensed.told.end(), [](const std::string& sentence) {
    return sentence.find("stands on something") != std::string::npos;
  }));
}

/// A foot counts while it is in the air: its rows balance there, and the foot is identified (T-73).
TEST(SensedWrenches, FeetCountWhileInTheAir) {
  const Model model = humanoid();
  const SensedProblem sensed = sensedProblem(model, model, {"left_foot"}, {}, 400, 200);
  const Index foot = sensed.tree->velocityIndex(requireJoint(model, "left_ankle_ft_joint"));
  const MotionData& data = sensed.problem.data[0];
  EXPECT_FALSE(data.use.middleCols<6>(foot).topRows(200).any());
  EXPECT_TRUE(data.use.middleCols<6>(foot).bottomRows(200).all());
  EXPECT_EQ(sensed.problem.base.count(), 7 * 30 + 10 * 5 + 4 * 6);
  expectRecovered(sensed.problem, sensed.truth);
}

/// Without joint torques: wrenches alone give back the base parameters of what is beyond the sensor
/// (L-42), as many as theory says for a part that floats, and the offsets.
TEST(SensedWrenches, WithoutJointTorques) {
  const std::vector<double> bias = {3.0, -2.0, 5.0, 0.4, -0.3, 0.2};
  Model model = armWithSensor(bias);
  Model known = armWithSensor({});
  SensedProblem sensed = sensedProblem(model, known, {}, {}, 400);
  MotionData data = sensed.problem.data[0];
  for (const char* joint : {"joint1", "joint2", "joint3", "joint5"})
    data.use.col(sensed.tree->velocityIndex(requireJoint(sensed.tree->model(), joint)))
        .setConstant(false);
  const IdentificationProblem problem = identificationProblem(sensed.tree, {data});
  // the sensor sees its own part alone, which floats: 10 of its first link, 7 of its joint, and 6
  EXPECT_EQ(problem.base.count(), 10 + 7 + 6);
  Eigen::VectorXd truth = sensed.truth;
  truth.tail<6>() = Eigen::VectorXd::Map(bias.data(), 6);
  expectRecovered(problem, truth);
}

/// With joint torques besides, the arm inside the sensor is identified too, and its offset once.
TEST(SensedWrenches, WithJointTorques) {
  const std::vector<double> bias = {3.0, -2.0, 5.0, 0.4, -0.3, 0.2};
  SensedProblem sensed = sensedProblem(armWithSensor(bias), armWithSensor({}), {}, {}, 400);
  const IdentificationProblem& problem = sensed.problem;
  Eigen::VectorXd truth = sensed.truth;
  truth.tail<6>() = Eigen::VectorXd::Map(bias.data(), 6);
  expectRecovered(problem, truth);
  const Estimate consistent = identify("pc-wls", problem);
  EXPECT_LT((consistent.chi.tail<6>() - truth.tail<6>()).cwiseAbs().maxCoeff(), 1e-4);
}

/// The free robot's count of base parameters with sensors (T-77) and its estimate.
TEST(SensedWrenches, FreeRobot) {
  const Model model = humanoid();
  SensedProblem sensed = sensedProblem(model, model, {}, {"pelvis"}, 40);
  EXPECT_FALSE(sensed.problem.data[0].use.leftCols<6>().any());  // pelvis touched: no base rows
  sensed = sensedProblem(model, model, {}, {}, 400);
  // 30 joints, 4 sensors, an offset of six numbers each
  EXPECT_EQ(sensed.problem.base.count(), 7 * 30 + 10 * 5 + 4 * 6);
  expectRecovered(sensed.problem, sensed.truth);
}

/// Claim (T-79, theorem 7.3): rows of the sensor alone, taken one at a time, bring the torque of a
/// joint beyond it down to what noise leaves, although the inertias there stay undetermined.
TEST(RecursiveLeastSquares, SensorRowsPredictJointTorques) {
  const SensedProblem sensed = sensedProblem(armWithSensor({}), armWithSensor({}), {}, {}, 400);
  const Tree& tree = *sensed.tree;
  MotionData data = sensed.problem.data[0];
  data.use.setConstant(false);
  const int own = tree.velocityIndex(requireJoint(tree.model(), "joint4"));
  const int beyond = tree.velocityIndex(requireJoint(tree.model(), "joint5"));
  data.use.middleCols<6>(own).setConstant(true);
  const BaseParameters base = sensedBaseParameters(tree, sensed.problem.layout, {data});
  const Eigen::VectorXd truth = splitParameters(base, sensed.truth).beta;
  // the description is wrong by 20 %, one way or the other; the sensor has 0.1 N and N m of noise
  Eigen::VectorXd cad = truth;
  for (Index i = 0; i < cad.size(); ++i) cad[i] *= i % 2 == 0 ? 1.2 : 0.8;
  RecursiveLeastSquares online(cad, 0.3 * truth.cwiseAbs().array() + 0.01);
  constexpr double kNoise = 0.1;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.0, kNoise);
  Workspace workspace(tree);
  RegressorBatch batch(tree, data.samples(), sensed.problem.layout->size());
  double before = 0.0, after = 0.0, predicted = 0.0;
  Eigen::VectorXd found = cad;
  forEachBatch(tree, *sensed.problem.layout, data, 0, data.samples(), workspace, batch,
               [&](Index start, Index count, RegressorBatch& rows) {
                 for (Index k = start; k < start + count; ++k) {
                   const Eigen::RowVectorXd joint =
                       rows.rows(beyond, count).row(k - start)(base.independent);
                   if (k >= 300) {  // judged on motion that it has not seen
                     ASSERT_TRUE(online.estimate(found));
                     before += std::pow(joint * (cad - truth), 2);
                     after += std::pow(joint * (found - truth), 2);
                     predicted += joint * online.covariance() * joint.transpose();
                     continue;
                   }
                   for (Index axis = 0; axis < 6; ++axis) {
                     const Eigen::RowVectorXd row =
                         rows.rows(own + axis, count).row(k - start)(base.independent);
                     online.add(row, row * truth + noise(random), kNoise);
                   }
                 }
               });
  EXPECT_GT(std::sqrt(before / 100), 0.3);  // N m
  EXPECT_LT(std::sqrt(after / 100), kNoise);
  // as large as its own covariance says, within a factor: few unknowns decide
  EXPECT_LT(after, 4.0 * predicted);
  EXPECT_GT(after, 0.1 * predicted);
}

/// Back to the robot as read: joints fixed, base as it was, offsets in the sensors.
TEST(SensedWrenches, UndoneForWriting) {
  const Model model = humanoid();
  std::vector<std::string> told;
  Model sensed = withSensedWrenches(model, {emptyRecording(model)}, &told);
  EXPECT_TRUE(hasSensedWrenches(sensed));
  EXPECT_EQ(sensed.couplings.size(), 24U);
  sensed.couplings[2].value = 7.0;
  const Model back = withoutSensedWrenches(sensed, model);
  EXPECT_FALSE(hasSensedWrenches(back));
  EXPECT_TRUE(back.couplings.empty());
  EXPECT_EQ(back.base, model.base);
  EXPECT_EQ(back.velocity_count, model.velocity_count);
  int biased = 0;
  for (const Sensor& sensor : back.sensors) {
    if (sensor.kind == SensorKind::kForceTorque &&
        sensor.bias == std::vector<double>{0, 0, 7, 0, 0, 0})
      ++biased;
  }
  EXPECT_EQ(biased, 1);
}

/// A free base without what it needs is refused with what is missing.
TEST(SensedWrenches, MissingSensors) {
  const Model model = humanoid();
  std::vector<std::string> told;
  Recording recording = emptyRecording(model);
  recording.channels.erase(
      std::remove_if(recording.channels.begin(), recording.channels.end(),
                     [](const Channel& channel) { return channel.name.starts_with("gyro"); }),
      recording.channels.end());
  try {
    withSensedWrenches(model, {recording}, &told);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the IMU is missing"), std::string::npos)
        << error.what();
  }
  Model fixed = model;
  fixed.floating = false;
  EXPECT_FALSE(hasSensedWrenches(withSensedWrenches(finalize(fixed), {Recording{}}, &told)));
}

}  // namespace
}  // namespace proprio
