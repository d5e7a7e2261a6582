// Several sequences of a batch in one launch: what each has of its own comes as parameters of its own, in the order that
// lowering/selection/sequences.py names them; the rest is there once, in the order of the entry that takes one sequence.
#pragma once

#define EACH_SEQUENCE(P) P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7)
#define ONE_OF(number, CASE) \
  switch (number) { CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) }
