#include "dpf_tiles.h"

#include <string.h>

#define B DPF_TILES_ROWS

#define DPF_BODY "dpf_tiles_body.h"
#include "dpf_each_isa.h"

void dpf_tiles_add(const double *z, size_t width, const double *labels, double *found)
{
    DPF_RETURN(tiles_add, z, width, labels, found)
}
