// See compiled_once.h.
#define PROPRIO_ONCE_PRODUCTS
#include "compiled_once.h"
