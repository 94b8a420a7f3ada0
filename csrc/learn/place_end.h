/* Forgets the vectors of learn/place_body.h, which is included once for each instruction set. */
#undef LANES
#undef VEC
#undef INT
#undef PICK
#undef ALL
#undef B
