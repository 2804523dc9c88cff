#include "proprio/numerics/nonlinear_program.h"

// Debian's headers of Ipopt 3.11 ask for one of these before they include <cstddef>
#define HAVE_CSTDDEF
#include <coin/IpIpoptApplication.hpp>
#include <coin/IpTNLP.hpp>
#undef HAVE_CSTDDEF

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// Ipopt takes anything beyond this as no bound.
constexpr double kNoBound = 1e19;

/// The program in Ipopt's words. Exceptions are kept and end the solve.
class Adapter final : public Ipopt::TNLP {
 public:
  using Index = Ipopt::Index;
  using Number = Ipopt::Number;

  Adapter(const NonlinearProgram& program, const ProgramOptions& options)
      : program_(program),
        options_(options),
        x_(program.start),
        gradient_(program.start.size()),
        g_(program.g_lower.size()),
        entries_(static_cast<Eigen::Index>(program.jacobian_rows.size())) {}

  ProgramResult result;
  std::exception_ptr failure;

  bool get_nlp_info(Index& n, Index& m, Index& nonzeros, Index& hessian,
                    IndexStyleEnum& style) override {
    n = static_cast<Index>(x_.size());
    m = static_cast<Index>(g_.size());
    nonzeros = static_cast<Index>(entries_.size());
    hessian = program_.hessian ? n * (n + 1) / 2 : 0;
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Index n, Number* x_l, Number* x_u, Index m, Number* g_l,
                       Number* g_u) override {
    const auto copy = [](const Eigen::VectorXd& from, double otherwise, Index size, Number* to) {
      for (Index i = 0; i < size; ++i) {
        const double bound = from.size() > 0 ? from[i] : otherwise;
        to[i] = std::clamp(bound, -2.0 * kNoBound, 2.0 * kNoBound);
      }
    };
    copy(program_.lower, -2.0 * kNoBound, n, x_l);
    copy(program_.upper, 2.0 * kNoBound, n, x_u);
    copy(program_.g_lower, 0.0, m, g_l);
    copy(program_.g_upper, 0.0, m, g_u);
    return true;
  }
  bool get_starting_point(Index n, bool, Number* x, bool, Number*, Number*, Index, bool,
                          Number*) override {
    std::copy_n(program_.start.data(), n, x);
    return true;
  }
  bool eval_f(Index n, const Number* x, bool, Number& value) override {
    return guarded(n, x, [&] {
      value = program_.value(x_);
      return std::isfinite(value);
    });
  }
  bool eval_grad_f(Index n, const Number* x, bool, Number* gradient) override {
    return guarded(n, x, [&] {
      program_.gradient(x_, gradient_);
      std::copy_n(gradient_.data(), n, gradient);
      return gradient_.allFinite();
    });
  }
  bool eval_g(Index n, const Number* x, bool, Index m, Number* g) override {
    if (m == 0) return true;
    return guarded(n, x, [&] {
      program_.constraints(x_, g_);
      std::copy_n(g_.data(), m, g);
      return g_.allFinite();
    });
  }
  bool eval_jac_g(Index n, const Number* x, bool, Index, Index count, Index* rows, Index* columns,
                  Number* values) override {
    if (values == nullptr) {
      std::copy_n(program_.jacobian_rows.data(), count, rows);
      std::copy_n(program_.jacobian_columns.data(), count, columns);
      return true;
    }
    if (count == 0) return true;
    return guarded(n, x, [&] {
      program_.jacobian(x_, entries_);
      std::copy_n(entries_.data(), count, values);
      return entries_.allFinite();
    });
  }
  bool eval_h(Index n, const Number* x, bool, Number weight, Index m, const Number* multipliers,
              bool, Index, Index* rows, Index* columns, Number* values) override {
    if (!program_.hessian) return false;
    Index place = 0;
    if (values == nullptr) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j <= i; ++j, ++place) rows[place] = i, columns[place] = j;
      }
      return true;
    }
    return guarded(n, x, [&] {
      hessian_.setZero(n, n);
      program_.hessian(x_, weight, Eigen::Map<const Eigen::VectorXd>(multipliers, m), hessian_);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j <= i; ++j) values[place++] = hessian_(i, j);
      }
      return std::all_of(values, values + place, [](double value) { return std::isfinite(value); });
    });
  }
  bool intermediate_callback(Ipopt::AlgorithmMode, Index iteration, Number value, Number violation,
                             Number, Number, Number, Number, Number, Number, Index,
                             const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    result.iterations = iteration;
    return failure == nullptr && !(options_.stop && options_.stop(iteration, value, violation));
  }
  void finalize_solution(Ipopt::SolverReturn, Index n, const Number* x, const Number*,
                         const Number*, Index m, const Number* g, const Number*, Number value,
                         const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    result.x = Eigen::Map<const Eigen::VectorXd>(x, n);
    result.value = value;
    result.violation = 0.0;
    for (Index i = 0; i < m; ++i) {
      result.violation =
          std::max({result.violation, g[i] - program_.g_upper[i], program_.g_lower[i] - g[i]});
    }
  }

 private:
  template <class F>
  bool guarded(Index n, const Number* x, F f) {
    try {
      x_ = Eigen::Map<const Eigen::VectorXd>(x, n);
      return f();
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  }

  const NonlinearProgram& program_;
  const ProgramOptions& options_;
  Eigen::VectorXd x_, gradient_, g_, entries_;
  Eigen::MatrixXd hessian_;
};

ProgramStatus statusOf(Ipopt::ApplicationReturnStatus status) {
  switch (status) {
    case Ipopt::Solve_Succeeded:
    case Ipopt::Solved_To_Acceptable_Level:
    case Ipopt::Feasible_Point_Found:
      return ProgramStatus::kSolved;
    case Ipopt::Maximum_Iterations_Exceeded:
      return ProgramStatus::kIterations;
    case Ipopt::User_Requested_Stop:
      return ProgramStatus::kStopped;
    case Ipopt::Infeasible_Problem_Detected:
      return ProgramStatus::kInfeasible;
    default:
      return ProgramStatus::kFailed;
  }
}

void checkProgram(const NonlinearProgram& p) {
  const Eigen::Index n = p.start.size();
  if (n == 0 || !p.start.allFinite()) throw Error("solveProgram: the start is empty or not finite");
  for (const Eigen::VectorXd* bound : {&p.lower, &p.upper}) {
    if (bound->size() != 0 && bound->size() != n) {
      throw Error("solveProgram: the bounds of x have another size than the start");
    }
  }
  if (p.g_lower.size() != p.g_upper.size() || p.jacobian_rows.size() != p.jacobian_columns.size()) {
    throw Error("solveProgram: bounds of g, or rows and columns of its Jacobian, differ in size");
  }
}

}  // namespace

const char* toString(ProgramStatus status) {
  switch (status) {
    case ProgramStatus::kSolved:
      return "solved";
    case ProgramStatus::kIterations:
      return "iteration limit";
    case ProgramStatus::kStopped:
      return "stopped";
    case ProgramStatus::kInfeasible:
      return "infeasible";
    case ProgramStatus::kFailed:
      return "failed";
  }
  return "";
}

ProgramResult solveProgram(const NonlinearProgram& program, const ProgramOptions& options) {
  checkProgram(program);
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  const Ipopt::SmartPtr<Adapter> adapter = new Adapter(program, options);
  const Ipopt::SmartPtr<Ipopt::IpoptApplication> app = new Ipopt::IpoptApplication(false);
  const Ipopt::SmartPtr<Ipopt::OptionsList> settings = app->Options();
  settings->SetIntegerValue("print_level", 0);
  settings->SetStringValue("sb", "yes");
  if (!program.hessian) {
    settings->SetStringValue("hessian_approximation", "limited-memory");
    settings->SetIntegerValue("limited_memory_max_history", options.memory);
    // one solve a step for all remembered gradients, instead of two for each of them
    settings->SetStringValue("limited_memory_aug_solver", "extended");
  }
  settings->SetStringValue("nlp_scaling_method", "none");
  settings->SetIntegerValue("max_iter", options.iterations);
  settings->SetNumericValue("tol", options.tolerance);
  // Ipopt's own choice with this Hessian, adaptive, forgets mu_init and wanders off a good start
  settings->SetStringValue("mu_strategy", "monotone");
  settings->SetNumericValue("mu_init", options.barrier);
  if (app->Initialize("") != Ipopt::Solve_Succeeded)
    throw Error("solveProgram: Ipopt does not start");
  adapter->result.x = program.start;
  const Ipopt::ApplicationReturnStatus status =
      app->OptimizeTNLP(Ipopt::SmartPtr<Ipopt::TNLP>(Ipopt::GetRawPtr(adapter)));
  if (adapter->failure != nullptr) std::rethrow_exception(adapter->failure);
  ProgramResult result = adapter->result;
  result.status = statusOf(status);
  return result;
}

}  // namespace proprio
