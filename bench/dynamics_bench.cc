// Dynamics beside Pinocchio and MuJoCo, in one run: one sample and batches, arms of UR5 and Panda
// size and a humanoid of TALOS size (own numbers), random states. Prints a table of ratios and
// writes bench/results.md.

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "proprio/dynamics/derivatives.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/model/testing/random_model.h"
#include "timing.h"
#ifdef PROPRIO_PINOCCHIO
#include "pinocchio_side.h"
#endif
#ifdef PROPRIO_HAVE_MUJOCO
#include "proprio/dynamics/testing/mujoco_robot.h"
#endif

namespace proprio::bench {
namespace {

constexpr int kSamples = 64;  // short enough to be undisturbed now and then

#ifdef PROPRIO_PINOCCHIO
/// The model as Pinocchio's URDF reader would build it: axis-aligned joints where the axis is
/// aligned.
std::vector<PlainBody> plainBodies(const Model& model) {
  const Traversal traversal = traverse(model, model.base);
  std::vector<int> place(model.links.size(), -1);
  std::vector<PlainBody> bodies;
  for (const int link : traversal.order) {
    PlainBody b;
    place[static_cast<size_t>(link)] = static_cast<int>(bodies.size());
    const int joint = traversal.parent_joint[static_cast<size_t>(link)];
    Pose X;
    if (joint < 0) {
      b.axis = model.floating ? 4 : 5;
    } else {
      const Joint& j = model.joints[static_cast<size_t>(joint)];
      b.parent = place[static_cast<size_t>(traversal.parent[static_cast<size_t>(link)])];
      X = j.X_FJ;
      b.axis = 3;
      for (int k = 0; k < 3; ++k) {
        b.axis_vector[k] = j.axis[k];
        if (j.axis[k] == 1.0) b.axis = k;
      }
    }
    const Link& body = model.links[static_cast<size_t>(link)];
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(b.R) = X.R;
    Eigen::Map<Vector3d>(b.p) = X.p;
    b.mass = body.inertia.mass;
    Eigen::Map<Vector3d>(b.com) = body.inertia.com();
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(b.inertia) =
        body.inertia.inertiaAtCom();
    bodies.push_back(b);
  }
  return bodies;
}
#endif

struct Row {
  std::string robot, quantity;
  double one = 0.0;
  std::optional<double> batch;                   // ours, ns per sample
  std::optional<double> normal, native, mujoco;  // others
};

double maxRelative(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).norm() / b.norm();
}

class RobotBench {
 public:
  RobotBench(std::string name, Model model)
      : name_(std::move(name)),
        model_(std::make_shared<const Model>(std::move(model))),
        tree_(model_),
        parameters_(compileParameters(tree_, declaredParameters(model_))),
        workspace_(tree_),
        nv_(tree_.velocityCount()),
        batch_(tree_, std::min<Eigen::Index>(64, RegressorBatch::recommendedSamples(tree_)),
               static_cast<Eigen::Index>(10 * model_->links.size())) {
    q_.resize(kSamples, tree_.positionCount());
    v_.resize(kSamples, nv_);
    a_.resize(kSamples, nv_);
    for (int s = 0; s < kSamples; ++s) {
      const RandomState x = randomState(tree_, 100 + static_cast<unsigned>(s));
      q_.row(s) = x.q.transpose();
      v_.row(s) = x.v.transpose();
      a_.row(s) = x.a.transpose();
    }
    qt_ = q_.transpose();
    vt_ = v_.transpose();
    at_ = a_.transpose();
    tau_.resize(kSamples, nv_);
    taut_.resize(nv_, kSamples);
    M_.resize(nv_, nv_);
    dq_.resize(nv_, nv_);
    dv_.resize(nv_, nv_);
    Ms_.resize(36, nv_ * nv_);  // padded: columns 2^k apart would share few sets of the cache
    Y_.resize(nv_, static_cast<Eigen::Index>(10 * model_->links.size()));
    inverseDynamicsBatch(tree_, parameters_, workspace_, q_, v_, a_, tau_);
    taut_ = tau_.transpose();
    acc_.resize(kSamples, nv_);
    acct_.resize(nv_, kSamples);
#ifdef PROPRIO_PINOCCHIO
    normal_ = kPinocchioNormal.create(plainBodies(*model_));
    native_ = kPinocchioNative.create(plainBodies(*model_));
    checkAgreement();
#endif
#ifdef PROPRIO_HAVE_MUJOCO
    mujoco_ = std::make_unique<MujocoRobot>(*model_);
    rest_.resize(nv_);
#endif
  }

  std::vector<Row> run() {
    std::vector<Row> rows;
    rows.push_back(measure(
        "inverse dynamics",
        [this](int s) {
          inverseDynamics(tree_, parameters_, workspace_, qt_.col(s), vt_.col(s), at_.col(s),
                          taut_.col(s));
        },
        [this] { inverseDynamicsBatch(tree_, parameters_, workspace_, q_, v_, a_, tau_); },
        kInverse));
    rows.push_back(measure(
        "torque regressor",
        [this](int s) {
          torqueRegressor(tree_, workspace_, qt_.col(s), vt_.col(s), at_.col(s), Y_);
        },
        [this] {
          const Eigen::Index n = batch_.capacity();
          for (Eigen::Index s = 0; s < kSamples; s += n) {
            torqueRegressorBatch(tree_, workspace_, q_.middleRows(s, n), v_.middleRows(s, n),
                                 a_.middleRows(s, n), batch_);
          }
        },
        kRegressor));
    rows.push_back(measure(
        "mass matrix",
        [this](int s) { massMatrix(tree_, parameters_, workspace_, qt_.col(s), M_); },
        [this] {
          constexpr Eigen::Index kBlock = 32;  // stays in the cache
          for (Eigen::Index s = 0; s < kSamples; s += kBlock) {
            massMatrixBatch(tree_, parameters_, workspace_, q_.middleRows(s, kBlock),
                            Ms_.topRows(kBlock));
          }
        },
        kMass));
    rows.push_back(measure(
        "forward dynamics",
        [this](int s) {
          forwardDynamics(tree_, parameters_, workspace_, qt_.col(s), vt_.col(s), taut_.col(s),
                          acct_.col(s));
        },
        [this] { forwardDynamicsBatch(tree_, parameters_, workspace_, q_, v_, tau_, acc_); },
        kForward));
    rows.push_back(measure(
        "derivatives of inverse dynamics",
        [this](int s) {
          inverseDynamicsDerivatives(tree_, parameters_, workspace_, qt_.col(s), vt_.col(s),
                                     at_.col(s), dq_, dv_);
        },
        {}, kInverseDerivatives));
    rows.push_back(measure(
        "derivatives of forward dynamics",
        [this](int s) {
          forwardDynamicsDerivatives(tree_, parameters_, workspace_, qt_.col(s), vt_.col(s),
                                     taut_.col(s), acct_.col(s), dq_, dv_, M_);
        },
        {}, kForwardDerivatives));
    return rows;
  }

 private:
  enum Quantity { kInverse, kRegressor, kMass, kForward, kInverseDerivatives, kForwardDerivatives };

  template <class One>
  Row measure(const std::string& quantity, One one, std::function<void()> batch, Quantity which) {
    const auto loop = [](auto f) {
      return [f] {
        for (int s = 0; s < kSamples; ++s) f(s);
      };
    };
    Candidate ours = {"one", loop(one), kSamples}, ours_batch = {"batch", batch, kSamples};
    std::vector<Candidate*> all = {&ours};
    if (batch) all.push_back(&ours_batch);
#ifdef PROPRIO_PINOCCHIO
    const auto pinocchio = [this, which, loop](const PinocchioSide& side, void* p) {
      return loop([this, which, &side, p](int s) {
        const double *q = qt_.col(s).data(), *v = vt_.col(s).data(), *a = at_.col(s).data();
        if (which == kInverse) side.inverse_dynamics(p, q, v, a, nullptr);
        if (which == kRegressor) side.regressor(p, q, v, a, nullptr);
        if (which == kMass) side.mass_matrix(p, q, nullptr);
        if (which == kForward) side.forward_dynamics(p, q, v, taut_.col(s).data(), nullptr);
        if (which == kInverseDerivatives)
          side.inverse_dynamics_derivatives(p, q, v, a, nullptr, nullptr);
        if (which == kForwardDerivatives) {
          side.forward_dynamics_derivatives(p, q, v, taut_.col(s).data(), nullptr, nullptr);
        }
      });
    };
    Candidate normal = {"normal", pinocchio(kPinocchioNormal, normal_), kSamples};
    Candidate native = {"native", pinocchio(kPinocchioNative, native_), kSamples};
    all.push_back(&normal);
    all.push_back(&native);
#endif
#ifdef PROPRIO_HAVE_MUJOCO
    Candidate mujoco = {"mujoco", loop([this, which](int s) {
                          const double *q = qt_.col(s).data(), *v = vt_.col(s).data(),
                                       *a = at_.col(s).data();
                          if (which == kInverse) mujocoInverse(q, v, a);
                          if (which == kMass) mujocoMass(q);
                          if (which == kForward) mujocoForward(q, v, taut_.col(s).data());
                        }),
                        kSamples};
    const bool mujoco_has_it = which == kInverse || which == kMass || which == kForward;
    if (mujoco_has_it) all.push_back(&mujoco);
#endif
    timeInterleaved(all);
    Row row;
    row.robot = name_;
    row.quantity = quantity;
    row.one = ours.nanoseconds;
    if (batch) row.batch = ours_batch.nanoseconds;
#ifdef PROPRIO_PINOCCHIO
    row.normal = normal.nanoseconds;
    row.native = native.nanoseconds;
#endif
#ifdef PROPRIO_HAVE_MUJOCO
    if (mujoco_has_it) row.mujoco = mujoco.nanoseconds;
#endif
    return row;
  }

#ifdef PROPRIO_PINOCCHIO
  /// Timings of different answers would be worth nothing.
  void checkAgreement() {
    Eigen::VectorXd tau(nv_), acc(nv_), theirs(nv_);
    Eigen::MatrixXd M(nv_, nv_), their_M(nv_, nv_);
    const Eigen::VectorXd q = qt_.col(0), v = vt_.col(0), a = at_.col(0);
    inverseDynamics(tree_, parameters_, workspace_, q, v, a, tau);
    kPinocchioNative.inverse_dynamics(native_, q.data(), v.data(), a.data(), theirs.data());
    double worst = maxRelative(tau, theirs);
    massMatrix(tree_, parameters_, workspace_, q, M);
    kPinocchioNative.mass_matrix(native_, q.data(), their_M.data());
    worst = std::max(worst, (M - their_M).norm() / M.norm());
    forwardDynamics(tree_, parameters_, workspace_, q, v, tau, acc);
    worst = std::max(worst, maxRelative(acc, a));
    kPinocchioNative.forward_dynamics(native_, q.data(), v.data(), tau.data(), theirs.data());
    worst = std::max(worst, maxRelative(acc, theirs));
    fmt::print("{}: largest relative deviation from Pinocchio {:.1e}\n", name_, worst);
  }
  void *normal_ = nullptr, *native_ = nullptr;
#endif
#ifdef PROPRIO_HAVE_MUJOCO
  // the parts of mj_inverse and mj_forward that belong to the question; our numbers serve as any
  // numbers
  void mujocoKinematics(const double* q) {
    std::copy_n(q, mujoco_->m()->nq, mujoco_->d()->qpos);
    mj_kinematics(mujoco_->m(), mujoco_->d());
    mj_comPos(mujoco_->m(), mujoco_->d());
  }
  void mujocoInverse(const double* q, const double* v, const double* a) {
    mujocoKinematics(q);
    std::copy_n(v, nv_, mujoco_->d()->qvel);
    std::copy_n(a, nv_, mujoco_->d()->qacc);
    mj_comVel(mujoco_->m(), mujoco_->d());
    mj_rne(mujoco_->m(), mujoco_->d(), 1, rest_.data());
  }
  void mujocoMass(const double* q) {
    mujocoKinematics(q);
    mj_crb(mujoco_->m(), mujoco_->d());
  }
  void mujocoForward(const double* q, const double* v, const double* tau) {
    mujocoMass(q);
    mj_factorM(mujoco_->m(), mujoco_->d());
    std::copy_n(v, nv_, mujoco_->d()->qvel);
    mj_comVel(mujoco_->m(), mujoco_->d());
    mj_rne(mujoco_->m(), mujoco_->d(), 0, mujoco_->d()->qfrc_bias);
    for (int i = 0; i < nv_; ++i) rest_[i] = tau[i] - mujoco_->d()->qfrc_bias[i];
    mj_solveM(mujoco_->m(), mujoco_->d(), mujoco_->d()->qacc, rest_.data(), 1);
  }
  std::unique_ptr<MujocoRobot> mujoco_;
  Eigen::VectorXd rest_;
#endif

  std::string name_;
  std::shared_ptr<const Model> model_;
  Tree tree_;
  CompiledParameters parameters_;
  Workspace workspace_;
  int nv_;
  RegressorBatch batch_;
  Eigen::MatrixXd q_, v_, a_, qt_, vt_, at_, tau_, taut_, acc_, acct_, M_, Ms_, Y_, dq_, dv_;
};

std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string ratio(const std::optional<double>& other, double ours) {
  return other ? fmt::format("{:.1f}x", *other / ours) : "-";
}
std::string nanoseconds(const std::optional<double>& t) {
  return t ? fmt::format("{:.0f}", *t) : "-";
}

std::string table(const std::vector<Row>& rows) {
  std::string text =
      "| robot | quantity | one sample | batch | Pinocchio -O3 | Pinocchio native | MuJoCo | one "
      "vs Pinocchio | batch vs Pinocchio "
      "| one vs MuJoCo |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Row& r : rows) {
    std::optional<double> best = r.normal;
    if (r.native && (!best || *r.native < *best)) best = r.native;
    text += fmt::format("| {} | {} | {:.0f} | {} | {} | {} | {} | {} | {} | {} |\n", r.robot,
                        r.quantity, r.one, nanoseconds(r.batch), nanoseconds(r.normal),
                        nanoseconds(r.native), nanoseconds(r.mujoco), ratio(best, r.one),
                        r.batch ? ratio(best, *r.batch) : std::string("-"), ratio(r.mujoco, r.one));
  }
  return text;
}

/// Nanoseconds per joint of serial arms: flat from 7 to 60.
std::string scaling() {
  std::string text =
      "| joints | inverse dynamics, ns per joint | forward dynamics, ns per joint "
      "|\n|---|---|---|\n";
  for (const int joints : {7, 15, 30, 60}) {
    const auto model = std::make_shared<const Model>(serialChain(joints));
    const Tree tree(model);
    const CompiledParameters parameters = compileParameters(tree, declaredParameters(model));
    Workspace workspace(tree);
    const RandomState x = randomState(tree, 1);
    Eigen::VectorXd tau(joints), a(joints);
    constexpr int kLoops = 300;
    Candidate inverse = {"",
                         [&] {
                           for (int k = 0; k < kLoops; ++k)
                             inverseDynamics(tree, parameters, workspace, x.q, x.v, x.a, tau);
                         },
                         kLoops};
    Candidate forward = {"",
                         [&] {
                           for (int k = 0; k < kLoops; ++k)
                             forwardDynamics(tree, parameters, workspace, x.q, x.v, x.tau, a);
                         },
                         kLoops};
    timeInterleaved({&inverse, &forward});
    text += fmt::format("| {} | {:.1f} | {:.1f} |\n", joints, inverse.nanoseconds / joints,
                        forward.nanoseconds / joints);
  }
  return text;
}

}  // namespace
}  // namespace proprio::bench

int main(int argc, char** argv) {
  using namespace proprio;
  using namespace proprio::bench;
  std::vector<Row> rows;
  const std::pair<const char*, Model> robots[] = {{"six-axis arm", sixAxisArm()},
                                                  {"seven-axis arm", sevenAxisArm()},
                                                  {"humanoid, 32 joints", humanoid32()}};
  for (const auto& [name, model] : robots) {
    RobotBench bench(name, model);
    for (const Row& row : bench.run()) rows.push_back(row);
  }
  const std::string text = fmt::format(
      "# Dynamics: nanoseconds per sample, single thread, best of 101 interleaved repetitions in "
      "one run\n\n"
      "Printed by proprio_bench, which `./run bench` builds, on: {}; kernels `{}` ({} lanes); g++ "
      "{}. The Pinocchio ratio takes "
      "the faster of its two "
      "builds.\n\n{}\n{}",
      machine(), kernels::active().name, kernels::active().lanes, __VERSION__, table(rows),
      scaling());
  std::cout << text;
  if (argc > 1) std::ofstream(argv[1]) << text;
  return 0;
}
