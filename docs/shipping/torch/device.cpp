extern "C" {
#include "../device.c"
}
