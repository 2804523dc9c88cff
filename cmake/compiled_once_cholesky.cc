// See compiled_once.h.
#define PROPRIO_ONCE_CHOLESKY
#include "compiled_once.h"
