(* Makes an OCaml module of the specification. Whole numbers become the 63-bit ones of OCaml: cases
   are small, and `check.ml` refuses an input of more than 61 bits. What is believed without a proof
   are the lines below: Coq's numbers are taken apart as usual, and six functions of them are those
   of OCaml. *)

From Coq Require Import Extraction ExtrOcamlBasic ZArith.
From Dpfast Require Import specification.

Extract Inductive positive => int
  [ "(fun p -> 2 * p + 1)" "(fun p -> 2 * p)" "1" ]
  "(fun odd even one p -> if p = 1 then one () else if p land 1 = 0 then even (p / 2) else odd (p / 2))".
Extract Inductive Z => int [ "0" "" "(~-)" ]
  "(fun zero positive negative z -> if z = 0 then zero () else if z > 0 then positive z else negative (-z))".
Extract Inlined Constant Z.add => "(+)".
Extract Inlined Constant Z.sub => "(-)".
Extract Inlined Constant Z.opp => "(~-)".
Extract Inlined Constant Z.mul => "( * )".
Extract Inlined Constant Z.eqb => "((=) : int -> int -> bool)".
Extract Inlined Constant Z.ltb => "((<) : int -> int -> bool)".
Extract Inlined Constant Z.leb => "((<=) : int -> int -> bool)".
Extract Inlined Constant Z.max => "(max : int -> int -> int)".
Extract Inlined Constant Z.min => "(min : int -> int -> int)".
Extract Inlined Constant Z.abs => "abs".
Extract Inlined Constant Z.shiftr => "(asr)".
Extract Constant Z.div => "fun a b -> let q = a / b in if a < q * b then q - 1 else q".

Extraction "specification.ml" runs_of least_distance distance_of propose target rows_below ranked
  smooth_replace smooth_add_remove active.
