// See compiled_once.h.
#define PROPRIO_ONCE_QR
#include "compiled_once.h"
