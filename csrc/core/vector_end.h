#undef LANES
#undef VEC
#undef INT
#undef BITS
#undef PICK
#undef ALL
