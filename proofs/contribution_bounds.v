(* Contribution bounds: what the sums of tables that differ in one privacy unit can differ by. *)

From Coq Require Import ZArith Lia List Permutation Bool.
From Dpfast Require Import integer_sums.
Import ListNotations.
Open Scope Z_scope.

(* * Privacy units *)

(* The rows of an id, and all privacy units of a table, each as its rows. *)
Definition unit_of {Row : Type} (t : list (Z * Row)) (id : Z) : list Row :=
  map snd (filter (fun r => fst r =? id) t).

Definition ids {Row : Type} (t : list (Z * Row)) : list Z := nodup Z.eq_dec (map fst t).
Definition units {Row : Type} (t : list (Z * Row)) : list (list Row) := map (unit_of t) (ids t).

(* All rows of an id are added, removed, or replaced by all rows of an id, anywhere in the table. *)
Inductive neighbors_by_id {Row : Type} : relation -> list (Z * Row) -> list (Z * Row) -> Prop :=
  | unit_added : forall x y i, ~ In i (ids x) -> In i (ids y) ->
      (forall k, k <> i -> unit_of x k = unit_of y k) -> neighbors_by_id AddRemove x y
  | unit_removed : forall x y i, In i (ids x) -> ~ In i (ids y) ->
      (forall k, k <> i -> unit_of x k = unit_of y k) -> neighbors_by_id AddRemove x y
  | unit_replaced : forall x y i j, In i (ids x) -> In j (ids y) ->
      i = j \/ (~ In i (ids y) /\ ~ In j (ids x)) ->
      (forall k, k <> i -> k <> j -> unit_of x k = unit_of y k) -> neighbors_by_id Replace x y.

Lemma id_has_rows : forall Row (t : list (Z * Row)) k, In k (ids t) <-> unit_of t k <> [].
Proof.
  intros Row t k. unfold ids, unit_of. rewrite nodup_In.
  induction t as [|[i row] t IH]; simpl; [easy|].
  destruct (Z.eqb_spec i k); simpl; [split; auto; easy | rewrite <- IH; intuition].
Qed.

Lemma without_id : forall Row (t : list (Z * Row)) i k,
  unit_of (filter (fun r => negb (fst r =? i)) t) k = if k =? i then [] else unit_of t k.
Proof.
  intros Row t i k. unfold unit_of. induction t as [|[j row] t IH]; simpl; [now destruct (k =? i)|].
  destruct (Z.eqb_spec j i), (Z.eqb_spec k i); simpl; destruct (Z.eqb_spec j k); simpl; try lia;
    now rewrite IH.
Qed.

Lemma units_by_ids : forall Row (t : list (Z * Row)) some, NoDup some ->
  (forall k, In k some <-> In k (ids t)) -> Permutation (units t) (map (unit_of t) some).
Proof.
  intros. apply Permutation_map, NoDup_Permutation; [apply NoDup_nodup | easy | easy].
Qed.

(* Of dpfast/tables/bounding.py: what a unit adds depends on its rows alone. So tables that differ
   in all rows of one id are neighbors as tables of units, in some order of these, which no sum of
   what units add depends on. *)
Theorem ids_make_neighbors : forall Row r (x y : list (Z * Row)), neighbors_by_id r x y ->
  exists x' y', Permutation (units x) x' /\ Permutation (units y) y' /\ neighbors r x' y'.
Proof.
  assert (A : forall Row (x y : list (Z * Row)) i, In i (ids x) -> ~ In i (ids y) ->
    (forall k, k <> i -> unit_of x k = unit_of y k) ->
    Permutation (units x) (unit_of x i :: units y)).
  { intros Row x y i I N E. rewrite (units_by_ids _ x (i :: ids y)).
    - simpl. apply perm_skip. unfold units. erewrite map_ext_in; [reflexivity|].
      intros k K. apply E. congruence.
    - constructor; [easy | apply NoDup_nodup].
    - intros k. simpl. rewrite !id_has_rows. destruct (Z.eq_dec k i) as [->|D];
        [apply id_has_rows in I; tauto | rewrite E by easy; intuition congruence]. }
  intros Row r x y [x' y' i N I E|x' y' i I N E|x' y' i j I J D E].
  - exists ([] ++ units x'), ([] ++ unit_of y' i :: units x'). repeat split; [easy | | constructor].
    apply A; auto. intros k K. now rewrite E.
  - exists ([] ++ unit_of x' i :: units y'), ([] ++ units y'). repeat split; [|easy|constructor].
    now apply A.
  - set (z := filter (fun r => negb (fst r =? i)) x').
    assert (Z : forall k, unit_of z k = if k =? i then [] else unit_of x' k) by apply without_id.
    exists ([] ++ unit_of x' i :: units z), ([] ++ unit_of y' j :: units z).
    assert (Q : forall k, In k (ids z) <-> k <> i /\ In k (ids x')) by
      (intros k; rewrite !id_has_rows, Z; destruct (Z.eqb_spec k i); intuition).
    repeat split; [apply A | apply A | constructor]; rewrite ?Q; try easy;
      try (intuition congruence); intros k K; rewrite Z; destruct (Z.eqb_spec k i) as [->|];
      try easy; [|symmetry; auto].
    destruct D as [->|[D _]]; [easy|]. rewrite id_has_rows in D.
    destruct (unit_of y' i); [easy | now destruct D].
Qed.

(* * Units that count with a part of each row *)

(* What a unit of some rows with this total counts for: min(rows, most) of its rows on average,
   rounded towards zero; csrc/groups/sums.c and dpfast/summaries/units.py. *)
Definition part_of (total rows most : Z) : Z := Z.quot (total * Z.min rows most) rows.

Lemma part_is_smaller : forall total rows most, 0 < rows -> 0 <= most -> 0 <= total ->
  0 <= part_of total rows most /\ rows * part_of total rows most <= Z.min rows most * total.
Proof.
  intros total rows most R M T. unfold part_of.
  pose proof (Z.mul_quot_le (total * Z.min rows most) rows). nia.
Qed.

(* Of csrc/groups/sums.c: quotient and remainder times k give the same integer without a large
   product. *)
Theorem part_of_is_exact : forall total rows k, 0 < rows -> 0 <= k ->
  Z.quot total rows * k + Z.quot (Z.rem total rows * k) rows = Z.quot (total * k) rows.
Proof.
  intros total rows k R K. assert (P : forall t, 0 <= t ->
    Z.quot t rows * k + Z.quot (Z.rem t rows * k) rows = Z.quot (t * k) rows).
  { intros t T. pose proof (Z.rem_nonneg t rows). pose proof (Z.quot_rem' t rows).
    rewrite (Z.quot_div_nonneg (t * k)), (Z.quot_div_nonneg (Z.rem t rows * k)) by nia.
    rewrite <- Z.div_add_l by lia. f_equal. nia. }
  destruct (Z_le_gt_dec 0 total) as [T|T]; [now apply P|]. specialize (P (- total)).
  rewrite Z.quot_opp_l, Z.rem_opp_l in P by lia.
  rewrite !Z.mul_opp_l, !Z.quot_opp_l in P by lia. lia.
Qed.

(* The feature of a unit, of which at most `most` rows count. *)
Definition bounded_feature {Row : Type} (most : Z) (f : Row -> Z) (unit : list Row) : Z :=
  part_of (sum_of f unit) (Z.of_nat (length unit)) most.

(* Of dpfast/summaries/units.py: a unit with rows counts for something between the least and the
   most that 1 to `most` rows add. *)
Theorem bounded_feature_range : forall Row (f : Row -> Z) lo hi most unit,
  unit <> [] -> 1 <= most -> (forall row, In row unit -> lo <= f row <= hi) ->
  Z.min lo (most * lo) <= bounded_feature most f unit <= Z.max hi (most * hi).
Proof.
  intros Row f lo hi most unit N M B. apply sum_bounded in B. unfold bounded_feature, part_of.
  assert (R : 0 < Z.of_nat (length unit)) by (destruct unit; [easy | simpl; lia]).
  set (n := Z.of_nat (length unit)) in *. set (k := Z.min n most). set (t := sum_of f unit) in *.
  assert (1 <= k <= most) by lia. clearbody n k t. clear N.
  rewrite <- (Z.quot_mul (Z.min _ _) n), <- (Z.quot_mul (Z.max _ _) n) by lia.
  assert (lo * k >= Z.min lo (most * lo) /\ hi * k <= Z.max hi (most * hi)) as (L & H') by
    (split; [destruct (Z_le_gt_dec 0 lo) | destruct (Z_le_gt_dec 0 hi)]; nia).
  split; apply Z.quot_le_mono; nia.
Qed.

Lemma sum_scaled : forall A (f : A -> Z) a l, sum_of (fun x => a * f x) l = a * sum_of f l.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; lia. Qed.

Lemma sum_swap : forall A B (f : A -> B -> Z) l m,
  sum_of (fun x => sum_of (f x) m) l = sum_of (fun y => sum_of (fun x => f x y) l) m.
Proof.
  induction l as [|x l IH]; intros m; simpl; [now rewrite sum_zero|].
  rewrite IH. rewrite (sum_equal _ (fun y => f x y + _)
    (fun y => 1 * f x y + 1 * sum_of (fun x => f x y) l + 0)), sum_linear by (intros; lia). lia.
Qed.

Lemma sum_flat_map : forall A B (g : A -> list B) (f : B -> Z) l,
  sum_of f (flat_map g l) = sum_of (fun x => sum_of f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [|rewrite sum_app, IH]; reflexivity. Qed.

(* * Sums by group *)

(* Step.numbers and Step.vectors of dpfast/groups/step.py, for at most `groups` groups of a unit and
   `rows` rows in each, and `every` groups in all, if that is public. *)
Definition step_numbers (r : relation) (groups rows first last : Z) (every : option Z) :=
  let largest := rows * Z.max (Z.abs first) (Z.abs last) in
  let moves := groups * sides r in
  match r with
  | AddRemove => Sensitivity moves (moves * largest) (moves * (largest * largest)) largest
  | Replace =>
      let width := Z.max last (rows * last) - Z.min first (rows * first) in
      let alone := match every with None => moves | Some d => Z.min moves d end in
      let corners := fun single both => Z.max (alone * single)
        (Z.max ((2 * alone - moves) * single + (moves - alone) * both) (groups * both)) in
      Sensitivity alone (corners largest width) (corners (largest * largest) (width * width))
        (Z.max width largest)
  end.

Definition step_vectors (r : relation) (groups rows size coordinates : Z) :=
  let largest := rows * size in
  let moves := groups * sides r in
  Sensitivity (moves * coordinates) (moves * largest) (moves * (largest * largest)) largest.

(* How many groups a unit touches. *)
Definition touched {Unit Group : Type} (touches : Group -> Unit -> bool) (groups : list Group)
  (unit : Unit) : Z := sum_of (fun g => Z.b2z (touches g unit)) groups.

(* Whether the unit on a side, if there is one, touches a group. *)
Definition side_touches {Unit Group : Type} (touches : Group -> Unit -> bool) (g : Group)
  (side : option Unit) : bool := match side with Some unit => touches g unit | None => false end.

Lemma corner : forall groups alone single both M W, 0 <= single -> 0 <= both -> 0 <= M -> 0 <= W ->
  single + both <= alone <= groups * 2 -> single + 2 * both <= groups * 2 ->
  single * M + both * W <= Z.max (alone * M)
    (Z.max ((2 * alone - groups * 2) * M + (groups * 2 - alone) * W) (groups * W)).
Proof.
  intros groups alone o b M W O B HM HW A G.
  destruct (Z_le_gt_dec W M); [|destruct (Z_le_gt_dec (2 * M) W)].
  - assert (0 <= M * (alone - o - b) /\ 0 <= b * (M - W)) by
      (split; apply Z.mul_nonneg_nonneg; lia). lia.
  - assert (0 <= W * (2 * groups - o - 2 * b) /\ 0 <= o * (W - 2 * M)) by
      (split; apply Z.mul_nonneg_nonneg; lia). lia.
  - enough (o * M + b * W <= (2 * alone - groups * 2) * M + (groups * 2 - alone) * W) by lia.
    assert (0 <= (2 * M - W) * (alone - o - b)) by (apply Z.mul_nonneg_nonneg; lia).
    assert (0 <= (W - M) * (2 * groups - o - 2 * b)) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

(* How many groups one of two sides touches alone, and how many both do. *)
Definition single {Unit Group : Type} (touches : Group -> Unit -> bool) groups a b : Z :=
  sum_of (fun g => Z.b2z (xorb (side_touches touches g a) (side_touches touches g b))) groups.
Definition both {Unit Group : Type} (touches : Group -> Unit -> bool) groups a b : Z :=
  sum_of (fun g => Z.b2z (side_touches touches g a && side_touches touches g b)) groups.

(* p if a group is touched by one side, q if it is by both. *)
Definition by_sides {Unit Group : Type} (touches : Group -> Unit -> bool) g a b (p q : Z) :=
  match side_touches touches g a, side_touches touches g b with
  | true, true => q
  | false, false => 0
  | _, _ => p
  end.

Lemma sum_by_sides : forall Unit Group (touches : Group -> Unit -> bool) groups a b norm p q,
  (forall g, norm g <= by_sides touches g a b p q) ->
  sum_of norm groups <= single touches groups a b * p + both touches groups a b * q.
Proof.
  intros Unit Group touches groups a b norm p q H. unfold single, both, by_sides in *.
  induction groups as [|g l IH]; cbn [sum_of]; [lia|]. specialize (H g).
  destruct (side_touches touches g a), (side_touches touches g b); cbn [xorb andb Z.b2z]; lia.
Qed.

Lemma touched_by_sides : forall Unit Group (touches : Group -> Unit -> bool) groups most r
    (a b : option Unit),
  match r, a, b with
  | AddRemove, None, Some _ | AddRemove, Some _, None | Replace, Some _, Some _ => True
  | _, _, _ => False
  end -> (forall unit, a = Some unit \/ b = Some unit -> touched touches groups unit <= most) ->
  let o := single touches groups a b in let w := both touches groups a b in
  0 <= o /\ 0 <= w <= most /\ o + 2 * w <= most * sides r /\ (r = AddRemove -> w = 0) /\
  o + w <= Z.of_nat (length groups).
Proof.
  intros Unit Group touches groups most r a b C H o w.
  set (n := fun side => sum_of (fun g => Z.b2z (side_touches touches g side)) groups).
  assert (S : 0 <= o /\ 0 <= w <= n a /\ w <= n b /\ o + 2 * w = n a + n b /\
    o + w <= Z.of_nat (length groups)).
  { unfold o, w, single, both, n. clear. induction groups as [|g l IH]; cbn [sum_of length]; [lia|].
    rewrite Nat2Z.inj_succ.
    destruct (side_touches touches g a), (side_touches touches g b); cbn [Z.b2z andb xorb]; lia. }
  assert (N : n None = 0) by apply sum_zero.
  assert (Q : forall unit, a = Some unit \/ b = Some unit -> n (Some unit) <= most) by exact H.
  clearbody o w n. destruct r, a as [u|], b as [v|]; try easy; try specialize (Q u) as Qu;
    try specialize (Q v) as Qv; cbn [sides]; repeat split; intros; try easy; intuition lia.
Qed.

(* Of dpfast/groups/step.py: if each unit touches at most L0 groups, and adds to each of these
   between the least and the most that 1 to k rows can add, then the sums of all groups of tables
   that differ in one unit differ by no more than this. *)
Theorem numbers_by_group : forall Unit Group (adds : Group -> Unit -> Z) touches groups most rows
    first last every r x y,
  neighbors r x y -> 1 <= rows -> first <= last ->
  every = None \/ every = Some (Z.of_nat (length groups)) ->
  (forall unit, In unit (x ++ y) -> touched touches groups unit <= most /\
    forall g, if touches g unit
      then Z.min first (rows * first) <= adds g unit <= Z.max last (rows * last)
      else adds g unit = 0) ->
  covers (step_numbers r most rows first last every) (difference (map adds groups) x y).
Proof.
  intros Unit Group adds touches groups most rows first last every r x y N R L E H.
  destruct (difference_of_sides _ (map adds groups) _ _ _ N) as (a & b & -> & I & C).
  rewrite map_map. destruct (touched_by_sides _ _ touches groups most r a b C) as
    (T1 & T2 & T3 & T4 & T5); [intros unit U; now apply H, I|].
  set (o := single _ _ _ _) in *. set (w := both _ _ _ _) in *.
  set (M := rows * Z.max (Z.abs first) (Z.abs last)).
  set (W := Z.max last (rows * last) - Z.min first (rows * first)).
  set (d := fun g => of_side (adds g) a - of_side (adds g) b).
  assert (B : 0 <= M /\ 0 <= W /\ - M <= Z.min first (rows * first) /\
    Z.max last (rows * last) <= M) by (unfold M, W; repeat split; nia).
  destruct B as (HM & HW & B). assert (D : forall g, Z.abs (d g) <= by_sides touches g a b M W).
  { intros g. assert (P : forall side, side = a \/ side = b -> if side_touches touches g side
      then Z.min first (rows * first) <= of_side (adds g) side <= Z.max last (rows * last)
      else of_side (adds g) side = 0).
    { intros [unit|] S; [apply H, I; intuition congruence | easy]. }
    pose proof (P a (or_introl eq_refl)). pose proof (P b (or_intror eq_refl)).
    unfold by_sides, d, W in *.
    destruct (side_touches touches g a), (side_touches touches g b); lia. }
  assert (norm : forall F : Z -> Z, F 0 = 0 -> (forall z m, Z.abs z <= m -> F z <= F m) ->
    sum_of F (map d groups) <= o * F M + w * F W).
  { intros F F0 Fm. rewrite sum_map. apply sum_by_sides. intros g. specialize (Fm _ _ (D g)).
    unfold by_sides in *.
    now destruct (side_touches touches g a), (side_touches touches g b); rewrite ?F0 in Fm. }
  assert (N0 : sum_of (fun z => if z =? 0 then 0 else 1) (map d groups) <= o + w).
  { etransitivity; [apply (norm (fun z => if z =? 0 then 0 else 1)); [easy|]|].
    - intros z m. destruct (Z.eqb_spec z 0), (Z.eqb_spec m 0); lia.
    - destruct (M =? 0), (W =? 0); lia. }
  assert (N1 := norm Z.abs eq_refl ltac:(lia)). rewrite !Z.abs_eq in N1 by easy.
  assert (N2 := norm (fun z => z * z) eq_refl square_at_most). cbv beta in N2.
  assert (N3 : forall z, In z (map d groups) -> Z.abs z <= match r with AddRemove => M
    | Replace => Z.max W M end).
  { intros z (g & <- & _)%in_map_iff. specialize (D g).
    clear - D C HM HW. unfold by_sides in D. destruct r, a, b; try easy; cbn [side_touches] in D;
      repeat destruct (touches _ _); lia. }
  fold d. clear - N0 N1 N2 N3 T1 T2 T3 T4 T5 HM HW E. clearbody o w.
  unfold covers, step_numbers. fold M W. destruct r; cbn [sides l0 l1 l2_squared linf] in *.
  - rewrite (T4 eq_refl) in *. repeat split; auto; nia.
  - set (alone := match every with None => _ | Some _ => _ end).
    assert (A : o + w <= alone <= most * 2) by (unfold alone; destruct E as [-> | ->]; lia).
    clearbody alone. repeat split; [lia|..|exact N3];
      (etransitivity; [eassumption | apply corner; lia || apply Z.square_nonneg]).
Qed.

(* of_weights() of dpfast/statistics/histogram.py. *)
Definition of_weights (r : relation) (first last : Z) : sensitivity :=
  let most := Z.max (Z.abs first) (Z.abs last) in
  let width := last - first in
  match r with
  | AddRemove => Sensitivity 1 most (most * most) most
  | Replace =>
      Sensitivity 2 (2 * most) (Z.max (2 * (most * most)) (width * width)) (Z.max most width)
  end.

(* The sums of the weights of each bin. The bin of a row may be none of these. *)
Definition in_bins {Row : Type} (bin weight : Row -> Z) (bins : list Z) : list (Row -> Z) :=
  map (fun b row => if bin row =? b then weight row else 0) bins.

(* Of dpfast/statistics/histogram.py: for weights from `first` to `last`, a row that is added or
   removed changes one sum by M, the largest size. A replaced row changes two sums by M, or in one
   bin one sum by D = last - first: L1 is 2 M, and the square of L2 the larger of 2 M^2 and D^2. *)
Theorem weighted_histogram : forall Row (bin weight : Row -> Z) bins first last r x y,
  NoDup bins -> neighbors r x y -> first <= last ->
  (forall row, In row (x ++ y) -> first <= weight row <= last) ->
  covers (of_weights r first last) (difference (in_bins bin weight bins) x y).
Proof.
  intros Row bin weight bins first last r x y D N L W.
  replace (of_weights r first last) with (step_numbers r 1 1 first last None).
  - apply numbers_by_group with (touches := fun b row => bin row =? b); auto; [lia|].
    intros row I. specialize (W row I). split; [|intros b; destruct (bin row =? b); lia].
    unfold touched. clear - D. induction D as [|b bins A D IH]; simpl; [lia|].
    destruct (Z.eqb_spec (bin row) b) as [<-|]; simpl Z.b2z; [|lia].
    rewrite (sum_equal _ _ (fun _ => 0)), sum_zero; [lia|].
    intros c I. destruct (Z.eqb_spec (bin row) c); [congruence | easy].
  - unfold step_numbers, of_weights. destruct r; cbn [sides]; f_equal; lia.
Qed.

(* Of dpfast/statistics/histogram.py: an added or removed row changes one count by 1, so L1 and L2
   are 1. A row that is replaced may leave one bin and enter another: they are 2 and root 2. *)
Theorem histogram : forall Row (bin : Row -> Z) bins r x y, NoDup bins -> neighbors r x y ->
  let changes := sides r in
  covers (Sensitivity changes changes changes 1) (difference (in_bins bin (fun _ => 1) bins) x y).
Proof.
  intros Row bin bins r x y D N changes. subst changes.
  replace (Sensitivity _ _ _ _) with (of_weights r 1 1) by now destruct r.
  apply weighted_histogram; auto; lia.
Qed.

(* Of dpfast/groups/step.py: if each unit adds a vector that is not negative, of an L1 norm of at
   most k s, to at most L0 groups, then the vectors of all groups differ by no more than this. *)
Theorem vectors_by_group : forall Unit Group Kind (adds : Group -> Kind -> Unit -> Z) touches groups
    kinds most rows size r x y,
  neighbors r x y -> 0 <= rows -> 0 <= size ->
  (forall unit, In unit (x ++ y) -> touched touches groups unit <= most /\
    forall g, (forall c, In c kinds -> 0 <= adds g c unit) /\
      sum_of (fun c => adds g c unit) kinds <= if touches g unit then rows * size else 0) ->
  covers (step_vectors r most rows size (Z.of_nat (length kinds)))
    (difference (flat_map (fun g => map (adds g) kinds) groups) x y).
Proof.
  intros Unit Group Kind adds touches groups kinds most rows size r x y N R S H.
  destruct (difference_of_sides _ (flat_map (fun g => map (adds g) kinds) groups) _ _ _ N)
    as (a & b & -> & I & C).
  set (K := rows * size). assert (HK : 0 <= K) by (apply Z.mul_nonneg_nonneg; lia).
  destruct (touched_by_sides _ _ touches groups most r a b C) as (T1 & T2 & T3 & _);
    [intros unit U; now apply H, I|].
  set (ends := fun g => map (fun c => of_side (adds g c) a - of_side (adds g c) b) kinds).
  replace (map _ _) with (flat_map ends groups) by
    (clear; induction groups as [|g l IH]; simpl; [easy | now rewrite map_app, map_map, <- IH]).
  set (at_most := fun g p s => s <= by_sides touches g a b p (2 * p)).
  assert (G : forall g, let v := ends g in
    at_most g (Z.of_nat (length kinds)) (sum_of (fun z => if z =? 0 then 0 else 1) v) /\
    at_most g K (sum_of Z.abs v) /\ at_most g (K * K) (sum_of (fun z => z * z) v) /\
    forall z, In z v -> Z.abs z <= K).
  { intros g. assert (P : forall side, side = a \/ side = b ->
      (forall c, In c kinds -> 0 <= of_side (adds g c) side) /\
      0 <= sum_of (fun c => of_side (adds g c) side) kinds <=
        if side_touches touches g side then K else 0).
    { intros [unit|] D; simpl; [|now rewrite sum_zero].
      destruct (H unit) as (_ & J); [apply I; intuition congruence|]. destruct (J g) as (J1 & J2).
      repeat split; [easy | now apply sum_nonnegative | easy]. }
    destruct (P a (or_introl eq_refl)) as (A1 & A2), (P b (or_intror eq_refl)) as (B1 & B2).
    destruct (norms_of_two _ (fun c => of_side (adds g c) a) (fun c => of_side (adds g c) b) kinds)
      with (v := ends g) as (D1 & D2 & D3); auto.
    pose proof (nonzeros_at_most_length (ends g)) as D0. unfold ends in D0 at 2.
    rewrite map_length in D0.
    assert (D4 : sum_of (fun z => if z =? 0 then 0 else 1) (ends g) <= sum_of Z.abs (ends g))
      by (apply sum_monotone; intros z _; destruct (Z.eqb_spec z 0); lia).
    unfold at_most, by_sides. destruct (side_touches touches g a), (side_touches touches g b);
      repeat split; try nia; intros z J; specialize (D3 z J); lia. }
  assert (F : forall norm p, 0 <= p -> (forall g, at_most g p (sum_of norm (ends g))) ->
    sum_of norm (flat_map ends groups) <= most * sides r * p).
  { intros norm p HP B. rewrite sum_flat_map.
    etransitivity; [apply (sum_by_sides _ _ touches groups a b _ _ _ B) | nia]. }
  unfold covers, step_vectors. fold K. cbn [l0 l1 l2_squared linf].
  repeat split; try (apply F; [nia | apply G]). intros z (g & _ & J)%in_flat_map. now apply (G g).
Qed.

(* * The rows that a unit keeps *)

Definition in_group {Row : Type} (group : Row -> Z) (g : Z) (kept : list Row) : list Row :=
  filter (fun row => group row =? g) kept.

(* Of each unit at most `most` groups are kept, and none of them is empty for it. What is kept is a
   function of the unit's rows alone: a row has its secret hash with it. *)
Definition keeps_groups {Row : Type} (group : Row -> Z) (keep : list Row -> list Row) (most : Z) :=
  forall unit, incl (keep unit) unit /\
    Z.of_nat (length (nodup Z.eq_dec (map group (keep unit)))) <= most.

(* What a unit adds for its rows in a group: the sum of all of them, which are at most `rows` then,
   or the part of that sum for `rows` of them. *)
Definition counted {Row : Type} (parts : bool) (rows : Z) (value : Row -> Z) (l : list Row) : Z :=
  if parts then bounded_feature rows value l else sum_of value l.

Definition touches_group {Row : Type} (group : Row -> Z) (keep : list Row -> list Row) (g : Z)
  (unit : list Row) : bool := match in_group group g (keep unit) with [] => false | _ => true end.

Lemma counted_is_bounded : forall Row parts rows (value : Row -> Z) l,
  parts = true \/ Z.of_nat (length l) <= rows ->
  counted parts rows value l = bounded_feature rows value l.
Proof.
  intros Row [] rows value [|row l] P; try easy. destruct P as [P|P]; [easy|].
  unfold counted, bounded_feature, part_of. now rewrite Z.min_l, Z.quot_mul.
Qed.

Lemma counted_range : forall Row parts rows (value : Row -> Z) first last l,
  1 <= rows -> parts = true \/ Z.of_nat (length l) <= rows ->
  (forall row, In row l -> first <= value row <= last) ->
  if match l with [] => false | _ => true end
  then Z.min first (rows * first) <= counted parts rows value l <= Z.max last (rows * last)
  else counted parts rows value l = 0.
Proof.
  intros. rewrite counted_is_bounded by easy. destruct l; [easy | now apply bounded_feature_range].
Qed.

Lemma bounded_vector : forall Row Kind (value : Kind -> Row -> Z) kinds most size l,
  1 <= most -> 0 <= size ->
  (forall row, In row l -> (forall c, In c kinds -> 0 <= value c row) /\
    sum_of (fun c => value c row) kinds <= size) ->
  (forall c, In c kinds -> 0 <= bounded_feature most (value c) l) /\
  sum_of (fun c => bounded_feature most (value c) l) kinds <= most * size.
Proof.
  intros Row Kind value kinds most size l M S B. destruct l as [|row rest].
  { unfold bounded_feature, part_of; simpl. rewrite sum_zero. split; [easy | nia]. }
  set (l := row :: rest) in *. set (n := Z.of_nat (length l)). set (k := Z.min n most).
  assert (R : 0 < n) by (unfold n, l; simpl; lia).
  assert (P : forall c, In c kinds -> 0 <= bounded_feature most (value c) l /\
    n * bounded_feature most (value c) l <= k * sum_of (value c) l).
  { intros c I. apply part_is_smaller; [easy | lia | apply sum_nonnegative]. intros. now apply B. }
  split; [intros c I; now apply P|].
  assert (n * sum_of (fun c => bounded_feature most (value c) l) kinds
    <= k * sum_of (fun c => sum_of (value c) l) kinds) by
    (rewrite <- !sum_scaled; apply sum_monotone; intros c I; now apply P).
  assert (sum_of (fun c => sum_of (value c) l) kinds <= size * n).
  { rewrite <- (sum_swap _ _ (fun row c => value c row)).
    apply (sum_bounded _ (fun row => sum_of (fun c => value c row) kinds) 0 size l). intros z J.
    split; [apply sum_nonnegative; intros c I; now apply (B z J) | now apply B]. }
  assert (0 <= k <= most) by lia. nia.
Qed.

Lemma counted_vector : forall Row Kind (value : Kind -> Row -> Z) parts kinds rows size l,
  1 <= rows -> 0 <= size -> parts = true \/ Z.of_nat (length l) <= rows ->
  (forall row, In row l -> (forall c, In c kinds -> 0 <= value c row) /\
    sum_of (fun c => value c row) kinds <= size) ->
  (forall c, In c kinds -> 0 <= counted parts rows (value c) l) /\
  sum_of (fun c => counted parts rows (value c) l) kinds
  <= if match l with [] => false | _ => true end then rows * size else 0.
Proof.
  intros Row Kind value parts kinds rows size l R S P B.
  destruct (bounded_vector _ _ value kinds rows size l R S B) as (V & W).
  rewrite (sum_equal _ _ _ _ (fun c _ => counted_is_bounded _ _ _ (value c) _ P)).
  split; [intros c I; rewrite counted_is_bounded; auto|]. destruct l; [now rewrite sum_zero | easy].
Qed.

Lemma touched_at_most_kept : forall Row (group : Row -> Z) keep most groups unit,
  NoDup groups -> keeps_groups group keep most ->
  touched (touches_group group keep) groups unit <= most.
Proof.
  intros Row group keep most groups unit D K. destruct (K unit) as (_ & M).
  set (p := fun g => touches_group group keep g unit).
  apply Z.le_trans with (Z.of_nat (length (filter p groups))).
  - unfold touched. clear. induction groups as [|g l IH]; simpl; [lia|].
    fold (p g). destruct (p g); cbn [Z.b2z length]; lia.
  - etransitivity; [apply inj_le, NoDup_incl_length|exact M]; [now apply NoDup_filter|].
    intros g (_ & I)%filter_In. apply nodup_In. unfold p, touches_group in I.
    destruct (in_group group g (keep unit)) as [|row rest] eqn:E; [easy|].
    assert (J : In row (in_group group g (keep unit))) by (rewrite E; now left).
    apply filter_In in J. destruct J as (J & G). apply Z.eqb_eq in G. subst. now apply in_map.
Qed.

Lemma row_of_unit : forall Row (t : list (Z * Row)) unit row,
  In unit (units t) -> In row unit -> In row (map snd t).
Proof.
  intros Row t unit row U I. unfold units in U. apply in_map_iff in U. destruct U as (i & <- & _).
  unfold unit_of in I. apply in_map_iff in I. destruct I as (z & <- & I).
  apply filter_In in I. now apply in_map.
Qed.

(* Sums of what units add, for tables with ids. *)
Lemma sums_of_people : forall Row (features : list (list Row -> Z)) s r (x y : list (Z * Row)),
  neighbors_by_id r x y ->
  (forall x' y', neighbors r x' y' -> (forall unit row, In unit (x' ++ y') -> In row unit ->
    In row (map snd (x ++ y))) -> covers s (difference features x' y')) ->
  covers s (difference features (units x) (units y)).
Proof.
  intros Row fs s r x y N H. destruct (ids_make_neighbors _ _ _ _ N) as (x' & y' & Px & Py & N').
  replace (difference _ _ _) with (difference fs x' y') by
    (apply map_ext; intros f;
     now rewrite (no_order_changes_a_sum _ f _ _ Px), (no_order_changes_a_sum _ f _ _ Py)).
  apply H; [easy|]. intros unit row U I. rewrite map_app. apply in_app_iff in U. apply in_app_iff.
  destruct U as [U|U]; [left | right]; eapply row_of_unit; eauto; eapply Permutation_in;
    try exact U; now apply Permutation_sym.
Qed.

(* Of dpfast/groups/step.py: sums by group of numbers from `first` to `last`, of tables of which one
   person is added or removed, or is replaced, differ by no more than this, if of each person at
   most L0 groups count, and in each at most k rows, or k rows on average. *)
Theorem numbers_of_people : forall Row (group value : Row -> Z) keep parts groups most rows
    first last every r (x y : list (Z * Row)),
  neighbors_by_id r x y -> NoDup groups -> 1 <= rows -> first <= last ->
  every = None \/ every = Some (Z.of_nat (length groups)) -> keeps_groups group keep most ->
  (forall g unit, parts = true \/ Z.of_nat (length (in_group group g (keep unit))) <= rows) ->
  (forall row, In row (map snd (x ++ y)) -> first <= value row <= last) ->
  covers (step_numbers r most rows first last every)
    (difference (map (fun g unit => counted parts rows value (in_group group g (keep unit))) groups)
      (units x) (units y)).
Proof.
  intros Row group value keep parts groups most rows first last every r x y N D R L E K P V.
  apply sums_of_people with (r := r); [easy|]. intros x' y' N' I.
  apply numbers_by_group with (touches := touches_group group keep); try easy.
  intros unit U. split; [now apply touched_at_most_kept|]. intros g.
  apply counted_range; auto. intros row J. apply V, (I unit row U), (proj1 (K unit)).
  now apply filter_In in J.
Qed.

(* Of dpfast/groups/step.py: so do the sums by group of vectors that are not negative and add up to
   at most `size` for a row: a mean's pair, a variance's triple or the bins of a histogram. *)
Theorem vectors_of_people : forall Row Kind (group : Row -> Z) (value : Kind -> Row -> Z) keep parts
    groups kinds most rows size r (x y : list (Z * Row)),
  neighbors_by_id r x y -> NoDup groups -> 1 <= rows -> 0 <= size -> keeps_groups group keep most ->
  (forall g unit, parts = true \/ Z.of_nat (length (in_group group g (keep unit))) <= rows) ->
  (forall row, In row (map snd (x ++ y)) -> (forall c, In c kinds -> 0 <= value c row) /\
    sum_of (fun c => value c row) kinds <= size) ->
  covers (step_vectors r most rows size (Z.of_nat (length kinds)))
    (difference (flat_map (fun g => map (fun c unit =>
      counted parts rows (value c) (in_group group g (keep unit))) kinds) groups)
      (units x) (units y)).
Proof.
  intros Row Kind group value keep parts groups kinds most rows size r x y N D R S K P V.
  apply sums_of_people with (r := r); [easy|]. intros x' y' N' I.
  apply (vectors_by_group _ _ _ (fun g c unit =>
    counted parts rows (value c) (in_group group g (keep unit))) (touches_group group keep));
    [easy | lia | easy |].
  intros unit U. split; [now apply touched_at_most_kept|]. intros g. specialize (P g unit).
  assert (B : forall row, In row (in_group group g (keep unit)) ->
    (forall c, In c kinds -> 0 <= value c row) /\ sum_of (fun c => value c row) kinds <= size).
  { intros row J. apply V, (I unit row U), (proj1 (K unit)). now apply filter_In in J. }
  unfold touches_group. set (l := in_group group g (keep unit)) in *. clearbody l. clear - B P R S.
  now apply counted_vector.
Qed.

(* Of dpfast/measurement/linear.py, Setting.norm: of units of which `most` rows count on average,
   sums of features with a norm differ by `most` times what they do for a row. *)
Theorem units_of_many_rows : forall Row (features : list (Row -> Z)) norm most r
    (x y : list (list Row)),
  neighbors r x y -> 1 <= most -> 0 <= norm ->
  (forall unit row, In unit (x ++ y) -> In row unit -> (forall f, In f features -> 0 <= f row) /\
    sum_of (fun f => f row) features <= norm) ->
  covers (norm_of r (most * norm) (length features))
    (difference (map (bounded_feature most) features) x y).
Proof.
  intros Row fs norm most r x y N M B H. rewrite <- (map_length (bounded_feature most)).
  apply sums_of_a_norm; [easy|]. intros unit U.
  destruct (bounded_vector _ _ (fun f row => f row) fs most norm unit M B) as (P & Q);
    [intros row J; exact (H unit row U J)|].
  split; [intros f (f' & <- & F)%in_map_iff; now apply P|]. now rewrite sum_map.
Qed.

(* Of dpfast/measurement/linear.py, Setting.sizes: the sum of a feature of such units, where n is
   private. *)
Theorem sum_of_many_rows : forall Row (f : Row -> Z) lo hi most r (x y : list (list Row)),
  neighbors r x y -> 1 <= most -> lo <= hi ->
  (forall unit row, In unit (x ++ y) -> In row unit -> lo <= f row <= hi) ->
  covers (of_one (most * feature_sensitivity r false lo hi))
    (difference [bounded_feature most f] x y).
Proof.
  intros Row f lo hi most r x y N M L H.
  replace (most * feature_sensitivity r false lo hi) with
    (feature_sensitivity r false (most * Z.min lo 0) (most * Z.max hi 0)) by
    (destruct r; cbn [feature_sensitivity]; nia).
  apply sum_of_a_feature; [easy|]. intros [|row rest] U; [right; easy | left].
  pose proof (bounded_feature_range _ f lo hi most (row :: rest)) as B.
  specialize (B ltac:(easy) M (fun z I => H _ z U I)). nia.
Qed.

(* Of dpfast/summaries/units.py: a unit with rows counts as its total, within public ends, and one
   without rows as 0. So a unit that is added or removed changes a sum by at most max(|lo|, |hi|),
   and one that is replaced by at most max(hi - lo, |lo|, |hi|). *)
Theorem clamped_totals : forall Row (f : Row -> Z) lo hi r (x y : list (list Row)),
  neighbors r x y -> lo <= hi ->
  let clamped unit := match unit with [] => 0 | _ => Z.max lo (Z.min hi (sum_of f unit)) end in
  covers (of_one match r with AddRemove => Z.max (Z.abs lo) (Z.abs hi)
    | Replace => Z.max (hi - lo) (Z.max (Z.abs lo) (Z.abs hi)) end) (difference [clamped] x y).
Proof.
  intros Row f lo hi r x y N L clamped.
  replace (match r with AddRemove => _ | Replace => _ end) with
    (feature_sensitivity r false lo hi) by (destruct r; cbn [feature_sensitivity]; lia).
  apply sum_of_a_feature; [easy|]. intros [|row rest] _; [now right | left]. unfold clamped. lia.
Qed.

(* A person whose row goes from 5 to -5 in one of two groups changes one sum by 10, more than the
   root of 2 times 5. *)
Example a_swing : difference (map (fun g unit => counted false 1 snd (in_group fst g unit)) [0; 1])
    (units [(7, (0, 5))]) (units [(7, (0, -5))]) = [10; 0] /\
  step_numbers Replace 1 1 (-5) 5 (Some 2) = Sensitivity 2 10 100 10.
Proof. split; reflexivity. Qed.
