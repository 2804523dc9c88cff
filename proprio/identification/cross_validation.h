#pragma once

/// Errors on blocks that did not take part, each in turn: from the factors, a block of each
/// recording at a time.

#include "proprio/identification/evaluation.h"
#include "proprio/identification/method.h"

namespace proprio {

/// Of all training rows, each predicted by the estimate without its block (Evaluation::in_turn).
Evaluation crossValidation(const IdentificationProblem& problem, const Method& method,
                           const MethodOptions& options);

}  // namespace proprio
