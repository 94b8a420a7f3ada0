#include "sulq/tiles.h"

#include <string.h>

#define B DPF_TILES_ROWS

#define DPF_BODY "sulq/tiles_body.h"
#include "core/each_isa.h"

void dpf_tiles_add(const double *z, size_t width, const double *labels, double *found)
{
    DPF_RETURN(tiles_add, z, width, labels, found)
}
