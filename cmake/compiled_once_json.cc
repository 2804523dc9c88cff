// See compiled_once.h.
#define PROPRIO_ONCE_JSON
#include "compiled_once.h"
