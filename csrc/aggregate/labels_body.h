/* The loops of aggregate/labels.c that are faster with wide registers. */
#include "core/scale_body.h"

static uint32_t DPF_NAME(largest)(const uint32_t *labels, size_t n)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = labels[i] > largest ? labels[i] : largest;
    return largest;
}
