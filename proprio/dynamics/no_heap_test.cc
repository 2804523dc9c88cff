// Functions documented "real-time" do not allocate. The trap is malloc itself: this program's own
// definitions count the calls and hand over to glibc (operator new ends there too); under ASan,
// which owns malloc, its hook counts instead.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/test_robot.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROPRIO_TRAP_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PROPRIO_TRAP_ASAN
#endif
#if defined(__GLIBC__) && !defined(PROPRIO_TRAP_ASAN)
#define PROPRIO_TRAP_GLIBC
#endif

namespace {
thread_local int allocations = 0;
}

#if defined(PROPRIO_TRAP_ASAN)
#include <sanitizer/allocator_interface.h>
namespace {
const int hook = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, size_t) { ++allocations; }, [](const volatile void*) {});
}
#elif defined(PROPRIO_TRAP_GLIBC)
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out != nullptr ? 0 : ENOMEM;
}
}
#endif

namespace proprio {
namespace {

bool trapWorks() {
  const int before = allocations;
  const auto probe = std::make_unique<volatile double>(0.0);
  *probe = 1.0;
  return allocations > before;
}

template <class F>
void expectNoHeap(const char* function, F&& call) {
  const int before = allocations;
  call();
  const int count = allocations - before;
  EXPECT_EQ(count, 0) << function << " allocated";
}

// The trap notices new, malloc and Eigen's own allocation; otherwise the tests below prove nothing.
TEST(NoHeap, TrapNotices) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  int before = allocations;
  std::free(std::malloc(10));
  EXPECT_GT(allocations, before);
  before = allocations;
  Eigen::VectorXd vector(100);
  vector.setZero();
  EXPECT_GT(allocations, before);
  before = allocations;
  const AlignedBuffer buffer(10);
  EXPECT_GT(allocations, before);
}

// One sample: no function allocates, for fixed, floating and mimic trees, with and without
// external wrenches.
TEST(NoHeap, OneSample) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 1);
    const int nv = r.tree.velocityCount();
    const auto links = static_cast<Eigen::Index>(entry.model->links.size());
    const LinkWrenches wrenches = LinkWrenches::Random(6, links);
    Eigen::VectorXd out(nv);
    Eigen::MatrixXd M(nv, nv), Y(nv, 10 * links);
    for (const LinkWrenches* external : {static_cast<const LinkWrenches*>(nullptr), &wrenches}) {
      expectNoHeap("inverseDynamics", [&] {
        inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, out, external);
      });
      expectNoHeap("biasTorque",
                   [&] { biasTorque(r.tree, r.compiled, r.workspace, x.q, x.v, out, external); });
      expectNoHeap("forwardDynamics", [&] {
        forwardDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, out, external);
      });
      expectNoHeap("forwardDynamicsByMassMatrix", [&] {
        forwardDynamicsByMassMatrix(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, out,
                                    external);
      });
      if (!r.tree.floating()) {
        expectNoHeap("baseReaction", [&] {
          baseReaction(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, external);
        });
      } else {
        const Eigen::VectorXd s = x.q.tail(x.q.size() - 7), sd = x.v.tail(nv - 6),
                              sdd = x.a.tail(nv - 6);
        expectNoHeap("inverseDynamicsFromImu", [&] {
          inverseDynamicsFromImu(r.tree, r.compiled, r.workspace, {}, s, sd, sdd, out, external);
        });
      }
    }
    expectNoHeap("gravityTorque",
                 [&] { gravityTorque(r.tree, r.compiled, r.workspace, x.q, out); });
    expectNoHeap("massMatrix", [&] { massMatrix(r.tree, r.compiled, r.workspace, x.q, M); });
    expectNoHeap("torqueRegressor",
                 [&] { torqueRegressor(r.tree, r.workspace, x.q, x.v, x.a, Y); });
    expectNoHeap("compileParameters",
                 [&] { compileParameters(r.tree, r.parameters, &r.compiled); });
  }
}

// Batches: no function allocates, whatever the number of samples.
TEST(NoHeap, Batch) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const int nv = r.tree.velocityCount();
    const auto columns = static_cast<Eigen::Index>(10 * entry.model->links.size());
    for (const Eigen::Index samples : {1, 3, 8, 13}) {
      Eigen::MatrixXd q(samples, r.tree.positionCount()), v(samples, nv), a(samples, nv);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const RandomState x = randomState(r.tree, static_cast<unsigned>(k));
        q.row(k) = x.q.transpose(), v.row(k) = x.v.transpose(), a.row(k) = x.a.transpose();
      }
      Eigen::MatrixXd out(samples, nv), M(samples, nv * nv);
      RegressorBatch regressor(r.tree, samples, columns);
      expectNoHeap("inverseDynamicsBatch",
                   [&] { inverseDynamicsBatch(r.tree, r.compiled, r.workspace, q, v, a, out); });
      expectNoHeap("forwardDynamicsBatch",
                   [&] { forwardDynamicsBatch(r.tree, r.compiled, r.workspace, q, v, a, out); });
      expectNoHeap("massMatrixBatch",
                   [&] { massMatrixBatch(r.tree, r.compiled, r.workspace, q, M); });
      expectNoHeap("torqueRegressorBatch",
                   [&] { torqueRegressorBatch(r.tree, r.workspace, q, v, a, regressor); });
    }
  }
}

}  // namespace
}  // namespace proprio
