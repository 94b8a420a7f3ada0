(* The draw of a quantile and smooth sensitivities of quantiles by plain definition: over all
   candidates, all pairs of ranks, in whole numbers. `check/` makes a program of this file, and
   compares it with the compiled kernels, which do the same by runs of cells and by envelopes.

   Weights exp(-c u) and random words are arguments: nothing here computes an exponential. *)

From Coq Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

(* ---- Lists *)

Definition sum (l : list Z) : Z := fold_right Z.add 0 l.
Definition sum_of {A : Type} (f : A -> Z) (l : list A) : Z := sum (map f l).
Definition count {A : Type} (p : A -> bool) (l : list A) : Z := sum_of (fun x => Z.b2z (p x)) l.
Definition largest (least : Z) (l : list Z) : Z := fold_right Z.max least l.
Definition smallest (most : Z) (l : list Z) : Z := fold_right Z.min most l.

(* The elements of a list with whole numbers from `first` on. *)
Fixpoint number {A : Type} (first : Z) (l : list A) : list (Z * A) :=
  match l with
  | [] => []
  | x :: rest => (first, x) :: number (first + 1) rest
  end.

(* ---- Interpolated ranks *)

(* A node: the cells from `low` to `high`, its ends, and of the rows on them a part. Of each row
   on the low end `low_part` of `parts` lie below the node, of each row on the high end `high_part`
   of `parts` lie in it or below. The node of a whole column has the parts 0 and `parts`. *)
Record node := Node {
  parts : Z;      (* of a row; 2^32 in dpfast *)
  rank : Z;       (* one rank in the unit of all positions; 2^64 in dpfast *)
  low : Z;
  low_part : Z;
  high : Z;
  high_part : Z;
  numerator : Z;  (* of the quantile q *)
  denominator : Z;
  shift : Z;      (* what is added to the target rank *)
  share : Z;      (* the part d of a gap that is near a row, in 2^-20 *)
  ties : Z;       (* the public r, by which positions of tied rows stop short of their ends *)
  divides : bool; (* whether a part is drawn with a cell *)
  rows : list Z   (* the cells of all rows of the column *)
}.

Definition half_rank (n : node) : Z := rank n / 2.

(* A number of parts of rows as a position. *)
Definition of_parts (n : node) (mass : Z) : Z := rank n / parts n * mass.

(* How much of a row on cell x lies below the node, and in it, in parts. *)
Definition mass_outside (n : node) (x : Z) : Z :=
  if x <? low n then parts n else if x =? low n then low_part n else 0.

Definition mass (n : node) (x : Z) : Z :=
  if x <? low n then 0
  else if x =? low n then parts n - low_part n
  else if x <? high n then parts n
  else if x =? high n then high_part n
  else 0.

(* Where the node begins, and where the cell o begins in it: M(o). *)
Definition start (n : node) : Z := of_parts n (sum_of (mass_outside n) (rows n)).

Definition below (n : node) (o : Z) : Z :=
  start n + of_parts n (sum_of (fun x => if x <? o then mass n x else 0) (rows n)).
Definition mass_on (n : node) (o : Z) : Z :=
  of_parts n (sum_of (fun x => if x =? o then mass n x else 0) (rows n)).

Definition rows_below (n : node) (o : Z) : Z := count (fun x => x <? o) (rows n).
Definition rows_up_to (n : node) (o : Z) : Z := count (fun x => x <=? o) (rows n).
Definition rows_on (n : node) (o : Z) : Z := count (fun x => x =? o) (rows n).

Definition is_end (n : node) (o : Z) : bool := (o =? low n) || (o =? high n).
Definition is_gap (n : node) (o : Z) : bool := negb (is_end n o) && (rows_on n o =? 0).

(* The cells with rows, or ends, next to a cell of a gap. *)
Definition before (n : node) (o : Z) : Z :=
  largest (low n) (filter (fun x => (low n <? x) && (x <? o)) (rows n)).

Definition after (n : node) (o : Z) : Z :=
  smallest (high n) (filter (fun x => (o <? x) && (x <? high n)) (rows n)).
Definition million : Z := 1048576.

(* How many cells of the gap of a cell are near either side: min(floor(d s), floor((s - 1) / 2)). *)
Definition near (n : node) (o : Z) : Z :=
  let cells := after n o - before n o in Z.min (share n * cells / million) ((cells - 1) / 2).

(* Half ranks by which the position of a cell in a gap lies beside M. *)
Definition side (n : node) (o : Z) : Z :=
  if o - before n o <=? near n o then -1 else if after n o - o <=? near n o then 1 else 0.

(* Half ranks that k rows on a cell lack below and above: floor(2 q r') and floor(2 (1 - q) r'). *)
Definition tied (n : node) (k : Z) : Z := Z.min (ties n) (k - 1).
Definition lacks_below (n : node) (k : Z) : Z := 2 * tied n k * numerator n / denominator n.
Definition lacks_above (n : node) (k : Z) : Z :=
  2 * tied n k * (denominator n - numerator n) / denominator n.

(* The positions of a candidate are all from the lowest to the highest. *)
Definition lowest (n : node) (o : Z) : Z :=
  if is_end n o then below n o
  else if is_gap n o then below n o + side n o * half_rank n
  else below n o + half_rank n + lacks_below n (rows_on n o) * half_rank n.

Definition highest (n : node) (o : Z) : Z :=
  if is_end n o then below n o + mass_on n o
  else if is_gap n o then below n o + side n o * half_rank n
  else below n o + mass_on n o - half_rank n - lacks_above n (rows_on n o) * half_rank n.

(* The position of a part of a cell: parts are counted from where the rows on the cell begin, so
   those of the low end that are in the node are not the first ones. *)
Definition position (n : node) (o part : Z) : Z :=
  if is_end n o then rank n * rows_below n o + of_parts n (rows_on n o * part)
  else if is_gap n o then lowest n o
  else below n o + half_rank n + of_parts n ((rows_on n o - 1) * part).

(* The parts of a cell are `first_part`, .. , `first_part + parts_of - 1`. *)
Definition first_part (n : node) (o : Z) : Z := if o =? low n then low_part n else 0.

Definition parts_of (n : node) (o : Z) : Z :=
  if o =? low n then Z.max 1 (parts n - low_part n)
  else if o =? high n then Z.max 1 (high_part n)
  else if is_gap n o then 1 else parts n.

(* The target rank t = q m + z of m, the mass of the node, from where it begins. *)
Definition target (n : node) : Z :=
  start n + rank n / (denominator n * parts n) * numerator n * sum_of (mass n) (rows n) + shift n.

(* The distance from t to the positions first .. last. *)
Definition distance (t first last : Z) : Z := Z.max 0 (Z.max (first - t) (t - last)).

(* u of a candidate, a cell or, where the node divides, a cell and a part: minus the utility. *)
Definition distance_of (n : node) (o part : Z) : Z :=
  if divides n && negb (is_gap n o)
  then distance (target n) (position n o part) (position n o part)
  else distance (target n) (lowest n o) (highest n o).

(* ---- What lies outside a window of rows *)

(* The rows of a column, ascending: those before the window, in it and after it. Of the ends it is
   known how many rows are on them or not. *)
Record window := Window {
  skipped : list Z; seen : list Z; left : list Z; low_known : bool; high_known : bool
}.

Definition size (l : list Z) : Z := sum_of (fun _ => 1) l.
Definition inner (n : node) (w : window) : list Z :=
  filter (fun x => (low n <? x) && (x <? high n)) (seen w).



(* The last cell below the window, and the highest position that it can have; the cell before the
   node where the window has the low end. A first cell with few rows is left out, since the window
   may cut them. *)
Definition outside_low (n : node) (w : window) : Z * Z :=
  let skip := size (skipped w) in
  let known := if low_known w then rows_up_to n (low n) else 0 in
  let first := smallest (high n) (inner n w) in
  let k := count (fun x => x =? first) (inner n w) in
  if existsb (fun x => x <=? low n) (seen w) || (skip <=? known) then (low n - 1, 0)
  else if first =? high n then
    (high n - 1, (if high_known w then rows_below n (high n) else skip) * rank n + half_rank n)
  else if k <=? ties n then (first, (skip + k) * rank n - half_rank n)
  else (first - 1, skip * rank n + half_rank n).

(* The first cell above the window, and the lowest position that it can have. *)
Definition outside_high (n : node) (w : window) : Z * Z :=
  let over := size (skipped w) + size (seen w) in
  let known := if high_known w then rows_below n (high n) else size (rows n) in
  let last := largest (low n) (inner n w) in
  let k := count (fun x => x =? last) (inner n w) in
  if existsb (fun x => high n <=? x) (seen w) || (known <=? over) then (high n + 1, 0)
  else if last =? low n then
    (low n + 1, (if low_known w then rows_up_to n (low n) else over) * rank n - half_rank n)
  else if (k <=? ties n) && (fst (outside_low n w) <? last)
  then (last, (over - k) * rank n + half_rank n)
  else (last + 1, over * rank n - half_rank n).

Definition is_below (n : node) (w : window) (o : Z) : bool := o <=? fst (outside_low n w).
Definition is_above (n : node) (w : window) (o : Z) : bool := fst (outside_high n w) <=? o.

(* ---- Runs of candidates that are proposed together *)

(* A gap that is more than three half ranks from the target is proposed as a whole. *)
Definition is_far (n : node) (o : Z) : bool :=
  3 <? Z.abs (2 * rows_below n o - 2 * target n / rank n).

(* Whether a cell is in the run of the cell next below it. *)
Definition continues (n : node) (w : window) (o : Z) : bool :=
  is_below n w o || is_above n w (o - 1) ||
  (negb (is_below n w (o - 1)) && negb (is_above n w o) && is_gap n (o - 1) && is_gap n o &&
    (is_far n o || (side n (o - 1) =? side n o))).

(* A candidate is a cell with its weight by the base measure. *)
Definition candidate : Type := Z * Z.

Fixpoint runs_of (n : node) (w : window) (c : list candidate) : list (list candidate) :=
  match c with
  | [] => []
  | x :: rest =>
      match runs_of n w rest with
      | (y :: run) :: runs =>
          if continues n w (fst y) then (x :: y :: run) :: runs else [x] :: (y :: run) :: runs
      | runs => [x] :: runs
      end
  end.

(* The positions that candidates of a run are known to lie between, from its first cell o. *)
Definition reach (n : node) (w : window) (o : Z) : Z * Z :=
  if is_below n w o
  then (Z.min (target n) (snd (outside_low n w)), snd (outside_low n w))
  else if is_above n w o
  then (snd (outside_high n w), Z.max (target n) (snd (outside_high n w)))
  else if is_gap n o && is_far n o then (below n o - half_rank n, below n o + half_rank n)
  else if divides n && negb (is_gap n o)
  then (position n o (first_part n o), position n o (first_part n o + parts_of n o - 1))
  else (lowest n o, highest n o).

(* The least u that a candidate of a run can have. *)
Definition least_distance (n : node) (w : window) (run : list candidate) : Z :=
  match run with
  | [] => 0
  | (o, _) :: _ => let (first, last) := reach n w o in distance (target n) first last
  end.

(* ---- Random choices *)

Definition bits (x : Z) : Z := if x =? 0 then 0 else Z.log2 x + 1.

(* A uniform whole number below m by words of `width` bits: as many leading bits as m - 1 has,
   again while they are m or more. *)
Fixpoint uniform (width m : Z) (words : list Z) : option (Z * list Z) :=
  if m =? 1 then Some (0, words) else
  match words with
  | [] => None
  | word :: rest =>
      let x := Z.shiftr word (width - bits (m - 1)) in
      if x <? m then Some (x, rest) else uniform width m rest
  end.

(* What a point below the sum of all weights chooses: the first of which the weight, with all
   weights before it, is more than the point. *)
Fixpoint chosen {A : Type} (weighted : list (A * Z)) (point : Z) : option A :=
  match weighted with
  | [] => None
  | (x, weight) :: rest => if point <? weight then Some x else chosen rest (point - weight)
  end.

Record proposal := Proposal {
  cell : Z;
  part : Z;
  far : Z;     (* u of the candidate, if it lies in the window *)
  weight : Z;  (* of its run by the base measure *)
  bound : Z;   (* of its run *)
  coin : Z     (* the word by which it is kept or not; -1 outside of the window *)
}.

Definition bind {A B : Type} (x : option A) (f : A -> option B) : option B :=
  match x with Some y => f y | None => None end.

(* A run by the bounds, a cell of it by the base measure, a part of the cell, a coin. *)
Definition propose (width : Z) (n : node) (w : window) (runs : list (list candidate * Z))
    (words : list Z) : option (proposal * list Z) :=
  bind (uniform width (sum_of snd runs) words) (fun '(point, words) =>
  bind (chosen (map (fun run => (run, snd run)) runs) point) (fun '(run, bound) =>
  bind (match run with
        | [(o, _)] => Some (0, words)
        | _ => uniform width (sum_of snd run) words
        end) (fun '(point, words) =>
  bind (chosen run point) (fun o =>
  let is_outside := is_below n w o || is_above n w o in
  let has_part := divides n && negb is_outside in
  let first := if has_part then first_part n o else 0 in
  bind (if has_part then uniform width (parts_of n o) words else Some (0, words))
    (fun '(more, words) =>
  let u := distance_of n o (first + more) in
  let made := Proposal o (first + more) u (sum_of snd run) bound in
  if is_outside then Some (made (-1), words) else
  match words with
  | [] => None
  | word :: words => Some (made word, words)
  end))))).

(* ---- Smooth sensitivity *)

Definition clamp (lo hi x : Z) : Z := Z.max lo (Z.min hi x).

(* The ascending rows of a column with their ranks from 1 on, and the bounds as ranks 0 and n + 1:
   what a changed row may be. *)
Definition ranked (lo hi : Z) (column : list Z) : list (Z * Z) :=
  number 0 (lo :: map (clamp lo hi) column ++ [hi]).

(* e^(-beta k) in some unit: element k of a list, and 0 where the list is over. *)
Fixpoint at_distance (weights : list Z) (k : Z) : Z :=
  match weights with
  | [] => 0
  | w :: rest => if k =? 0 then w else at_distance rest (k - 1)
  end.

(* The greatest (x_j - x_i) e^(-beta D(i, j)) of the pairs of ranks i < j that count. *)
Definition best_pair (counts : Z -> Z -> bool) (D : Z -> Z -> Z) (weights : list Z)
    (x : list (Z * Z)) : Z :=
  largest 0 (flat_map (fun '(i, xi) => map (fun '(j, xj) =>
    if (i <? j) && counts i j then (xj - xi) * at_distance weights (D i j) else 0) x) x).

(* Of the rank m, one row replaced. *)
Definition smooth_replace (m : Z) (weights : list Z) (x : list (Z * Z)) : Z :=
  best_pair (fun i j => (i <=? m) && (m <=? j)) (fun i j => j - i - 1) weights x.

(* The rank of the quantile p / r of n rows. *)
Definition rank_of (p r n : Z) : Z := Z.max 1 (- (- (p * n) / r)).

(* Of L rows below a gap and U rows above it the quantile is above. *)
Definition is_above_gap (p r L U : Z) : bool := L <? rank_of p r (L + U).

(* One row more or less moves the quantile over the gap; from no rows it always may. *)
Definition is_active (p r L U : Z) : bool :=
  (L + U =? 0) ||
  existsb (fun '(L', U') => (0 <=? L') && (0 <=? U') && (0 <? L' + U') &&
    xorb (is_above_gap p r L U) (is_above_gap p r L' U'))
    [(L + 1, U); (L - 1, U); (L, U + 1); (L, U - 1)].

(* All active pairs among some numbers. *)
Definition active (p r : Z) (numbers : list Z) : list (Z * Z) :=
  filter (fun '(L, U) => is_active p r L U)
    (flat_map (fun L => map (fun U => (L, U)) numbers) numbers).

(* How many rows are added or removed until a row moves the quantile from x_i to x_j: those between
   go, and the numbers of rows below and above become active. *)
Definition pair_distance (n : Z) (active : list (Z * Z)) (i j : Z) : Z :=
  j - i - 1 + smallest (i + n + 1 - j)
    (map (fun '(L, U) => Z.abs (L - i) + Z.abs (U - (n + 1 - j))) active).

(* Of a quantile of n rows, one row added or removed. *)
Definition smooth_add_remove (n : Z) (active : list (Z * Z)) (weights : list Z)
    (x : list (Z * Z)) : Z :=
  best_pair (fun _ _ => true) (pair_distance n active) weights x.
