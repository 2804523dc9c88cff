// See compiled_once.h.
#define PROPRIO_ONCE_EIGENVALUES
#include "compiled_once.h"
