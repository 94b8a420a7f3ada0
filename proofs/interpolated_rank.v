(* Quantiles by interpolated ranks: how far a row moves the positions of a candidate, and what
   a draw of one quantile costs. *)

From Coq Require Import Reals ZArith Lra Lia List Bool Permutation.
From Dpfast Require Import distributions exponential_mechanism composition.
Import ListNotations.
Open Scope R_scope.

Ltac compare :=
  repeat match goal with |- context [(?x <=? ?y)%Z] => destruct (Z.leb_spec x y) end.

Definition floor (x : R) : Z := Int_part x.

(* A row: the cell that it is on, and its mass in a node. *)
Definition row : Type := Z * R.

(* What is public of a draw: the ends of the node, the cells from `first` to `last`; the fraction q
   of the quantile in the node; r, the rows that ties stop short by (`ties`); w, the cells of a gap
   that are near each side of it, by its length (`near`); the target rank, by the node's mass. *)
Record node := Node {
  first : Z; last : Z; fraction : R; ties : Z; near : Z -> Z; target : R -> R
}.

(* Rows on cells between the ends are in the node with the mass 1, on an end a part of each is. *)
Definition is_row (first last : Z) (r : row) : Prop :=
  (first <= fst r <= last)%Z /\ 0 <= snd r <= 1 /\ ((first < fst r < last)%Z -> snd r = 1).

(* From one gap to the next longer one w grows by 0 or 1. *)
Definition steps (w : Z -> Z) : Prop :=
  forall s, (1 <= s)%Z -> (w s <= w (s + 1) <= w s + 1)%Z.

Definition mass (x : list row) : R := total snd x.

(* M(o): the mass on cells below o. *)
Definition mass_below (o : Z) (x : list row) : R :=
  total (fun r => if (fst r <? o)%Z then snd r else 0) x.

Definition mass_on (o : Z) (x : list row) : R :=
  total (fun r => if (fst r =? o)%Z then snd r else 0) x.
Definition rows_on (o : Z) (x : list row) : Z :=
  fold_right (fun r k => if (fst r =? o)%Z then (k + 1)%Z else k) 0%Z x.

(* The next cell below o that is an end or that rows are on, and the next above o. *)
Definition next_below (p : node) (o : Z) (x : list row) : Z :=
  fold_right (fun r a => if (fst r <? o)%Z then Z.max (fst r) a else a) (first p) x.

Definition next_above (p : node) (o : Z) (x : list row) : Z :=
  fold_right (fun r b => if (o <? fst r)%Z then Z.min (fst r) b else b) (last p) x.

(* The position of a cell in a gap, in halves of a rank from M(o). *)
Definition gap_halves (p : node) (o : Z) (x : list row) : Z :=
  let a := next_below p o x in
  let b := next_above p o x in
  let w := near p (b - a) in
  if (o - a <=? w)%Z then (-1)%Z else if (b - o <=? w)%Z then 1%Z else 0%Z.

(* floor (2 part r') for r' = min(r, k - 1), on a cell with k rows. *)
Definition short_halves (p : node) (part : R) (k : Z) : Z :=
  floor (2 * part * IZR (Z.min (ties p) (k - 1))).

Definition is_end (p : node) (o : Z) : bool := ((o =? first p)%Z || (o =? last p)%Z)%bool.

(* A candidate is a cell; its positions are all from the lowest to the highest. *)
Definition lowest (p : node) (o : Z) (x : list row) : R :=
  if is_end p o then mass_below o x
  else if (rows_on o x =? 0)%Z then mass_below o x + IZR (gap_halves p o x) / 2
  else mass_below o x + 1 / 2 + IZR (short_halves p (fraction p) (rows_on o x)) / 2.

Definition highest (p : node) (o : Z) (x : list row) : R :=
  if is_end p o then mass_below o x + mass_on o x
  else if (rows_on o x =? 0)%Z then mass_below o x + IZR (gap_halves p o x) / 2
  else mass_below o x + IZR (rows_on o x) - 1 / 2
    - IZR (short_halves p (1 - fraction p) (rows_on o x)) / 2.

(* If the node is to be divided, a candidate is a cell with a fraction f; it has one position. *)
Definition position (p : node) (o : Z * R) (x : list row) : R :=
  if is_end p (fst o) then mass_below (fst o) x + snd o * mass_on (fst o) x
  else if (rows_on (fst o) x =? 0)%Z
  then mass_below (fst o) x + IZR (gap_halves p (fst o) x) / 2
  else mass_below (fst o) x + 1 / 2 + snd o * IZR (rows_on (fst o) x - 1).

(* The distance from t to the positions from low to high. *)
Definition distance (low high t : R) : R := Rmax 0 (Rmax (low - t) (t - high)).

(* The utility is minus the distance of a candidate's positions from the target. *)
Definition utility (p : node) (x : list row) (o : Z) : R :=
  - distance (lowest p o x) (highest p o x) (target p (mass x)).

Definition utility_divided (p : node) (x : list row) (o : Z * R) : R :=
  - distance (position p o x) (position p o x) (target p (mass x)).

(* The w of dpfast: the share d of the gap's length, and no more than leaves both sides apart. *)
Definition near_of (d : R) (s : Z) : Z := Z.min (floor (d * IZR s)) ((s - 1) / 2).

Lemma floor_bounds : forall x, IZR (floor x) <= x < IZR (floor x) + 1.
Proof. intros x. unfold floor. pose proof (base_Int_part x). lra. Qed.

Lemma floor_within : forall x y k,
  x <= y <= x + IZR k -> (floor x <= floor y <= floor x + k)%Z.
Proof.
  intros x y k H. pose proof (floor_bounds x). pose proof (floor_bounds y).
  assert (floor x < floor y + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra).
  assert (floor y < floor x + k + 1)%Z by (apply lt_IZR; rewrite !plus_IZR; lra). lia.
Qed.

Lemma floor_unique : forall x k, IZR k <= x < IZR k + 1 -> floor x = k.
Proof.
  intros x k H. pose proof (floor_bounds x).
  assert (floor x < k + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra).
  assert (k < floor x + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra). lia.
Qed.

(* Of dpfast/statistics/quantiles/exponential.py: w grows by 0 or 1 from one s to the next. *)
Theorem near_of_steps : forall d, 0 <= d < 1 / 2 -> steps (near_of d).
Proof.
  intros d Hd s Hs. unfold near_of.
  assert (floor (d * IZR s) <= floor (d * IZR (s + 1)) <= floor (d * IZR s) + 1)%Z
    by (apply floor_within; rewrite plus_IZR; lra). Z.div_mod_to_equations. lia.
Qed.

Lemma steps_far : forall w s s', steps w -> (1 <= s <= s')%Z -> (w s <= w s' <= w s + (s' - s))%Z.
Proof.
  intros w s s' H Hs. replace s' with (s + Z.of_nat (Z.to_nat (s' - s)))%Z by lia.
  generalize (Z.to_nat (s' - s)). induction n as [|n IH]; [rewrite Z.add_0_r; lia|].
  specialize (H (s + Z.of_nat n)%Z).
  replace (s + Z.of_nat (S n))%Z with (s + Z.of_nat n + 1)%Z by lia. lia.
Qed.

(* The order of rows makes no difference. *)
Lemma total_permutation : forall (A : Type) (f : A -> R) x y,
  Permutation x y -> total f x = total f y.
Proof. induction 1; simpl; lra. Qed.

Lemma fold_permutation : forall (A B : Type) (f : A -> B -> B) e x y,
  (forall r s a, f r (f s a) = f s (f r a)) -> Permutation x y ->
  fold_right f e x = fold_right f e y.
Proof. intros A B f e x y H. induction 1; simpl; congruence. Qed.

Lemma ingredients_permutation : forall p o x y, Permutation x y ->
  mass x = mass y /\ mass_below o x = mass_below o y /\ mass_on o x = mass_on o y /\
  rows_on o x = rows_on o y /\ gap_halves p o x = gap_halves p o y.
Proof.
  intros p o x y H. unfold gap_halves.
  assert (E : next_below p o x = next_below p o y)
    by (apply fold_permutation; [|easy]; intros; repeat destruct (_ <? _)%Z; lia).
  assert (E' : next_above p o x = next_above p o y)
    by (apply fold_permutation; [|easy]; intros; repeat destruct (_ <? _)%Z; lia).
  rewrite E, E'. repeat split; try (now apply total_permutation).
  apply fold_permutation; [|easy]. intros. repeat destruct (_ =? _)%Z; lia.
Qed.

Lemma next_bounds : forall p o x, (first p < o < last p)%Z ->
  (first p <= next_below p o x < o)%Z /\ (o < next_above p o x <= last p)%Z.
Proof.
  induction x as [|r x IH]; simpl; intros H; [lia|]. specialize (IH H).
  destruct (Z.ltb_spec (fst r) o), (Z.ltb_spec o (fst r)); lia.
Qed.

Lemma rows_on_nonnegative : forall o x, (0 <= rows_on o x)%Z.
Proof. induction x as [|r x IH]; simpl; [lia|]. destruct (_ =? _)%Z; lia. Qed.

(* A row that comes below a gap leaves its cells where they are from M, or lowers them by one or two
   places; above a gap it raises them. *)
Lemma gap_halves_moves : forall p o x r,
  steps (near p) -> (first p < o < last p)%Z -> is_row (first p) (last p) r -> fst r <> o ->
  (gap_halves p o x - (if (fst r <? o)%Z then 2 else 0) <= gap_halves p o (r :: x)
    <= gap_halves p o x + (if (fst r <? o)%Z then 0 else 2))%Z /\
  (is_end p (fst r) = true -> gap_halves p o (r :: x) = gap_halves p o x).
Proof.
  intros p o x [c s] Hw Ho [Hc _] Hne. simpl in *. unfold gap_halves, is_end. simpl.
  destruct (next_bounds p o x Ho).
  set (a := next_below p o x) in *. set (b := next_above p o x) in *.
  destruct (Z.ltb_spec c o) as [E|E].
  - replace (o <? c)%Z with false by lia.
    pose proof (steps_far (near p) (b - Z.max c a) (b - a) Hw ltac:(lia)) as Hs.
    split; [clear Hw | intros; now replace (Z.max c a) with a by lia].
    generalize dependent (near p (b - Z.max c a)). generalize dependent (near p (b - a)). intros.
    compare; lia.
  - replace (o <? c)%Z with true by lia.
    pose proof (steps_far (near p) (Z.min c b - a) (b - a) Hw ltac:(lia)) as Hs.
    split; [clear Hw | intros; now replace (Z.min c b) with b by lia].
    generalize dependent (near p (Z.min c b - a)). generalize dependent (near p (b - a)). intros.
    compare; lia.
Qed.

(* With one row more on a cell floor (2 part r') grows by something from 0 to 2. *)
Lemma short_halves_moves : forall p part k,
  0 <= part <= 1 -> (0 <= ties p)%Z -> (1 <= k)%Z ->
  (short_halves p part k <= short_halves p part (k + 1) <= short_halves p part k + 2)%Z.
Proof.
  intros p part k Hp Ht Hk. apply floor_within.
  assert (IZR (Z.min (ties p) (k - 1)) <= IZR (Z.min (ties p) (k + 1 - 1))
    <= IZR (Z.min (ties p) (k - 1)) + 1) by (rewrite <- plus_IZR; split; apply IZR_le; lia). nra.
Qed.

Lemma short_halves_one : forall p part, (0 <= ties p)%Z -> short_halves p part 1 = 0%Z.
Proof. intros. apply floor_unique. replace (Z.min (ties p) (1 - 1)) with 0%Z by lia. lra. Qed.

Definition is_node (p : node) : Prop :=
  0 <= fraction p <= 1 /\ (0 <= ties p)%Z /\ steps (near p).

(* What rises by something from 0 to s. *)
Definition rises (s before after : R) : Prop := 0 <= after - before <= s.

(* Of dpfast/statistics/quantiles/exponential.py: a row of mass s that comes raises the lowest and
   the highest position of every candidate by something from 0 to s, and so it does the position of
   every candidate with a fraction. *)
Theorem positions_rise : forall p x r o f,
  is_node p -> is_row (first p) (last p) r -> (first p <= o <= last p)%Z -> 0 <= f <= 1 ->
  rises (snd r) (lowest p o x) (lowest p o (r :: x)) /\
  rises (snd r) (highest p o x) (highest p o (r :: x)) /\
  rises (snd r) (position p (o, f) x) (position p (o, f) (r :: x)).
Proof.
  intros p x r o f [Hq [Ht Hw]] Hr Ho Hf. pose proof (gap_halves_moves p o x r Hw) as Hg.
  pose proof (rows_on_nonnegative o x) as Hk.
  pose proof (short_halves_moves p (fraction p) (rows_on o x) Hq Ht) as Hl.
  pose proof (short_halves_moves p (1 - fraction p) (rows_on o x) ltac:(lra) Ht) as Hh.
  pose proof (short_halves_one p (fraction p) Ht) as Hl1.
  pose proof (short_halves_one p (1 - fraction p) Ht) as Hh1.
  unfold rises, lowest, highest, position, mass_below, mass_on. cbn [fst snd total].
  destruct (is_end p o) eqn:Eo.
  - destruct Hr as [_ [Hs _]].
    destruct (fst r <? o)%Z eqn:?, (fst r =? o)%Z eqn:?; try lia; repeat split; nra.
  - assert (Hi : (first p < o < last p)%Z) by (unfold is_end in Eo; lia).
    specialize (Hg Hi Hr). change (rows_on o (r :: x))
      with (if (fst r =? o)%Z then (rows_on o x + 1)%Z else rows_on o x).
    destruct (fst r =? o)%Z eqn:E.
    + assert (Hs : snd r = 1) by (apply Hr; lia). rewrite Hs.
      replace (fst r <? o)%Z with false by lia. replace (rows_on o x + 1 =? 0)%Z with false by lia.
      destruct (rows_on o x =? 0)%Z eqn:E0.
      * replace (rows_on o x) with 0%Z by lia. change (0 + 1)%Z with 1%Z. rewrite Hl1, Hh1.
        assert (-1 <= IZR (gap_halves p o x) <= 1).
        { unfold gap_halves. repeat destruct (_ <=? _)%Z; lra. }
        simpl. lra.
      * assert (K : (1 <= rows_on o x)%Z) by lia. specialize (Hl K). specialize (Hh K).
        destruct Hl as [L1 L2], Hh as [H1 H2].
        apply IZR_le in L1, L2, H1, H2. rewrite plus_IZR in L2, H2.
        rewrite minus_IZR, !plus_IZR, minus_IZR. lra.
    + specialize (Hg ltac:(lia)). destruct Hg as [[G1 G2] G3].
      destruct (rows_on o x =? 0)%Z; [|destruct Hr as [_ [Hs _]]; destruct (fst r <? o)%Z; lra].
      destruct (is_end p (fst r)) eqn:Er.
      * rewrite G3 by easy. destruct Hr as [_ [Hs _]]. destruct (fst r <? o)%Z; lra.
      * assert (Hs : snd r = 1) by (apply Hr; unfold is_end in Er; destruct Hr; lia). rewrite Hs.
        apply IZR_le in G1, G2. rewrite minus_IZR in G1. rewrite plus_IZR in G2.
        destruct (fst r <? o)%Z; lra.
Qed.

Lemma distance_moves : forall low high t low' high' t' k,
  - k <= (low' - t') - (low - t) <= k -> - k <= (high' - t') - (high - t) <= k ->
  - k <= distance low' high' t' - distance low high t <= k.
Proof. intros. unfold distance, Rmax. repeat destruct (Rle_dec _ _); lra. Qed.

(* A row, or none. *)
Definition at_most_one (first last : Z) (u : list row) : Prop :=
  u = [] \/ exists r, u = [r] /\ is_row first last r.

(* x and y differ by a row of the mass s in x and one of the mass s' in y; there may be none. *)
Definition differ (first last : Z) (x y : list row) (s s' : R) : Prop :=
  exists z u u', at_most_one first last u /\ at_most_one first last u' /\
    Permutation (u ++ z) x /\ Permutation (u' ++ z) y /\ mass u = s /\ mass u' = s'.

Lemma at_most_one_rises : forall p z u x o f,
  is_node p -> at_most_one (first p) (last p) u -> Permutation (u ++ z) x ->
  (first p <= o <= last p)%Z -> 0 <= f <= 1 ->
  mass x = mass z + mass u /\
  rises (mass u) (lowest p o z) (lowest p o x) /\
  rises (mass u) (highest p o z) (highest p o x) /\
  rises (mass u) (position p (o, f) z) (position p (o, f) x).
Proof.
  intros p z u x o f Hp Hu H Ho Hf.
  destruct (ingredients_permutation p o _ _ H) as [E [E0 [E1 [E2 E3]]]].
  unfold lowest, highest, position, fst, snd in *. rewrite <- E, <- E0, <- E1, <- E2, <- E3.
  destruct Hu as [-> | [r [-> Hr]]]; unfold mass, app.
  - unfold rises. simpl. lra.
  - pose proof (positions_rise p z r o f Hp Hr Ho Hf) as R. simpl total at 1 3 4 5 6.
    rewrite Rplus_0_r. split; [lra | exact R].
Qed.

Lemma utilities_move : forall p x y s s' o f k,
  is_node p -> differ (first p) (last p) x y s s' -> (first p <= o <= last p)%Z -> 0 <= f <= 1 ->
  (forall m, s' - k <= target p (m + s') - target p (m + s) <= k - s) ->
  Rabs (utility p y o - utility p x o) <= k /\
  Rabs (utility_divided p y (o, f) - utility_divided p x (o, f)) <= k.
Proof.
  intros p x y s s' o f k Hp [z [u [u' [U [U' [X [Y [<- <-]]]]]]]] Ho Hf H.
  destruct (at_most_one_rises p z u x o f Hp U X Ho Hf) as [E [L [U1 P]]].
  destruct (at_most_one_rises p z u' y o f Hp U' Y Ho Hf) as [E' [L' [U1' P']]].
  specialize (H (mass z)). rewrite <- E, <- E' in H. unfold rises, utility, utility_divided in *.
  pose proof (distance_moves (lowest p o x) (highest p o x) (target p (mass x))
    (lowest p o y) (highest p o y) (target p (mass y)) k ltac:(lra) ltac:(lra)).
  pose proof (distance_moves (position p (o, f) x) (position p (o, f) x) (target p (mass x))
    (position p (o, f) y) (position p (o, f) y) (target p (mass y)) k ltac:(lra) ltac:(lra)).
  split; apply Rabs_le; lra.
Qed.

(* The target rank is q m + z, for the mass m of the node and a public z. *)
Definition linear (p : node) : Prop := exists z, forall m, target p m = fraction p * m + z.

(* D *)
Definition most (q : R) : R := Rmax q (1 - q).

(* b *)
Definition replaced (q s s' : R) : R := most q * Rmax s s' + (1 - most q) * Rmin s s'.

Lemma most_bounds : forall q, q <= most q /\ 1 - q <= most q /\ 1 / 2 <= most q.
Proof. intros q. unfold most, Rmax. destruct (Rle_dec _ _); lra. Qed.

Lemma replaced_bounds : forall q s s', 0 <= q <= 1 ->
  (1 - q) * s + q * s' <= replaced q s s' /\ q * s + (1 - q) * s' <= replaced q s s'.
Proof. intros q s s' Hq. unfold replaced, most, Rmax, Rmin. repeat destruct Rle_dec; nra. Qed.

(* Of dpfast/statistics/quantiles/exponential.py: a row of mass s that comes changes the utility of
   every candidate by at most D s, and one of mass s that another of mass s' replaces by at most
   b = D max(s, s') + (1 - D) min(s, s'). *)
Theorem utility_sensitivity : forall p x r r' o f,
  is_node p -> linear p -> is_row (first p) (last p) r -> is_row (first p) (last p) r' ->
  (first p <= o <= last p)%Z -> 0 <= f <= 1 ->
  let D := most (fraction p) in
  let b := D * Rmax (snd r) (snd r') + (1 - D) * Rmin (snd r) (snd r') in
  Rabs (utility p (r :: x) o - utility p x o) <= D * snd r /\
  Rabs (utility_divided p (r :: x) (o, f) - utility_divided p x (o, f)) <= D * snd r /\
  Rabs (utility p (r' :: x) o - utility p (r :: x) o) <= b /\
  Rabs (utility_divided p (r' :: x) (o, f) - utility_divided p (r :: x) (o, f)) <= b.
Proof.
  intros p x r r' o f Hp [z Hz] Hr Hr' Ho Hf D b.
  assert (R : forall r, is_row (first p) (last p) r -> at_most_one (first p) (last p) [r])
    by (right; eauto).
  assert (A : differ (first p) (last p) x (r :: x) 0 (snd r)).
  { exists x, [], [r]. unfold mass, at_most_one at 1. simpl. rewrite Rplus_0_r. auto 7. }
  assert (B : differ (first p) (last p) (r :: x) (r' :: x) (snd r) (snd r')).
  { exists x, [r], [r']. unfold mass. simpl. rewrite !Rplus_0_r. auto 7. }
  destruct (most_bounds (fraction p)) as [D1 [D2 _]]. fold D in D1, D2.
  destruct (replaced_bounds (fraction p) (snd r) (snd r') (proj1 Hp)) as [B1 B2].
  change (replaced _ _ _) with b in B1, B2. destruct Hr as [_ [Hs _]], Hr' as [_ [Hs' _]].
  rewrite <- and_assoc. split;
    [apply utilities_move with (s := 0) (s' := snd r)
    |apply utilities_move with (s := snd r) (s' := snd r')]; auto; intros m; rewrite !Hz; nra.
Qed.

(* Every row of a table is on some cell, in one node with all rows. *)
Definition on_cells {Row : Type} (cell : Row -> Z) (x : list Row) : list row :=
  map (fun v => (cell v, 1)) x.

Definition cells (first last : Z) : list Z :=
  map (fun i => (first + Z.of_nat i)%Z) (seq 0 (Z.to_nat (last - first + 1))).

(* The draw of one quantile q of n rows: its target rank is q (n - 1) + 1/2. *)
Definition quantile_node (first last : Z) (q : R) (ties : Z) (near : Z -> Z) : node :=
  Node first last q ties near (fun n => q * (n - 1) + 1 / 2).

Lemma in_cells : forall first last o, In o (cells first last) -> (first <= o <= last)%Z.
Proof. intros first last o [i [<- H%in_seq]]%in_map_iff. lia. Qed.

(* What a replaced row of a table does to those that are kept: one is replaced, leaves or comes. *)
Definition replaces_kept {Row : Type} (x y : list Row) : Prop := replaces x y \/ add_remove x y.

Lemma neighbors_differ : forall (Row : Type) (cell : Row -> Z) a b (x y : list Row),
  (forall v, (a <= cell v <= b)%Z) ->
  let differ := differ a b (on_cells cell x) (on_cells cell y) in
  (add_remove x y -> differ 0 1 \/ differ 1 0) /\ (replaces x y -> differ 1 1).
Proof.
  intros Row cell a b x y Hc. assert (R : forall v, at_most_one a b (on_cells cell [v])).
  { right. exists (cell v, 1). split; [easy|]. specialize (Hc v). repeat split; simpl; lia || lra. }
  assert (E : forall l r v, Permutation (on_cells cell [v] ++ on_cells cell (l ++ r))
    (on_cells cell (l ++ v :: r))).
  { intros. exact (Permutation_map (fun v => (cell v, 1)) (Permutation_middle l r v)). }
  assert (M : forall v, mass (on_cells cell [v]) = 1) by (intros; unfold mass; simpl; lra).
  assert (N : at_most_one a b [] /\ mass [] = 0) by (split; [now left | reflexivity]).
  destruct N as [N N0]. split; [intros [l [r [v H]]] | intros [l [r [v [w [-> ->]]]]]].
  - destruct H as [[-> ->] | [-> ->]]; [right | left]; exists (on_cells cell (l ++ r));
      [exists (on_cells cell [v]), [] | exists [], (on_cells cell [v])];
      auto 8 using Permutation_refl.
  - exists (on_cells cell (l ++ r)), (on_cells cell [v]), (on_cells cell [w]). auto 7.
Qed.

Lemma moves_suffice : forall (Row : Type) (cell : Row -> Z) p base epsilon c k
    (neighbors : list Row -> list Row -> Prop),
  is_node p -> is_base (cells (first p) (last p)) base -> 0 < k -> 0 <= c <= epsilon / (2 * k) ->
  (forall x y, neighbors x y -> exists s s',
    differ (first p) (last p) (on_cells cell x) (on_cells cell y) s s' /\
    forall m, s' - k <= target p (m + s') - target p (m + s) <= k - s) ->
  private_of_bounded_range neighbors epsilon (cells (first p) (last p)) base c
    (fun x => utility p (on_cells cell x)).
Proof.
  intros Row cell p base epsilon c k neighbors Hp Hb Hk Hc H.
  apply exponential_of_sensitivity with (sensitivity := k); auto.
  intros x y Hxy o Ho%in_cells. destruct (H x y Hxy) as [s [s' [D M]]].
  now apply (utilities_move p _ _ s s' o 0 k Hp D Ho ltac:(lra)).
Qed.

(* It is enough that the target rank rises by at most 1 for a row that comes. *)
Lemma kept_suffice : forall (Row : Type) (cell : Row -> Z) p base epsilon c,
  (forall v, (first p <= cell v <= last p)%Z) -> is_node p ->
  is_base (cells (first p) (last p)) base -> 0 <= c <= epsilon / 2 ->
  (forall n, 0 <= target p (n + 1) - target p (n + 0) <= 1) ->
  private_of_bounded_range replaces_kept epsilon (cells (first p) (last p)) base c
    (fun x => utility p (on_cells cell x)).
Proof.
  intros Row cell p base epsilon c Hcell Hp Hb Hc Ht.
  apply (moves_suffice _ cell p base epsilon c 1); [easy..|lra|lra|].
  intros x y N. destruct (neighbors_differ _ cell _ _ x y Hcell) as [A B].
  destruct N as [N|N]; [exists 1, 1 | destruct (A N) as [D|D]; [exists 0, 1 | exists 1, 0]];
    (split; [now auto|]); intros n; specialize (Ht n); lra.
Qed.

(* Of dpfast/statistics/quantiles/exponential.py: under add-remove a draw of one quantile is
   epsilon-private, of epsilon-bounded range, for c = epsilon / (2 D) rounded down, where
   D = max(q, 1 - q). *)
Theorem quantile_add_remove : forall (Row : Type) (cell : Row -> Z) first last q ties near base
    epsilon c,
  (forall v, (first <= cell v <= last)%Z) -> 0 <= q <= 1 -> (0 <= ties)%Z -> steps near ->
  is_base (cells first last) base -> 0 <= c <= epsilon / (2 * Rmax q (1 - q)) ->
  private_of_bounded_range add_remove epsilon (cells first last) base c
    (fun x => utility (quantile_node first last q ties near) (on_cells cell x)).
Proof.
  intros Row cell a b q r w base epsilon c Hcell Hq Hr Hw Hb Hc.
  destruct (most_bounds q) as [D1 [D2 D3]]. fold (most q) in Hc.
  apply (moves_suffice _ cell (quantile_node a b q r w) base epsilon c (most q));
    [easy..|lra|easy|].
  intros x y H. destruct (proj1 (neighbors_differ _ cell a b x y Hcell) H) as [D|D];
    [exists 0, 1 | exists 1, 0]; (split; [exact D|]); intros m; simpl; lra.
Qed.

(* Of dpfast/statistics/quantiles/exponential.py: under replace it is so for c = epsilon / 2, and
   where only some rows are kept, too. *)
Theorem quantile_replace : forall (Row : Type) (cell : Row -> Z) first last q ties near base
    epsilon c,
  (forall v, (first <= cell v <= last)%Z) -> 0 <= q <= 1 -> (0 <= ties)%Z -> steps near ->
  is_base (cells first last) base -> 0 <= c <= epsilon / 2 ->
  private_of_bounded_range replaces_kept epsilon (cells first last) base c
    (fun x => utility (quantile_node first last q ties near) (on_cells cell x)).
Proof.
  intros Row cell a b q r w base epsilon c Hcell Hq Hr Hw Hb Hc.
  apply (kept_suffice _ cell (quantile_node a b q r w)); try easy. intros n. simpl. lra.
Qed.

(* The target rank of a minimum or a maximum of n rows: T ranks from the end, or in the middle. *)
Definition inside (T n : R) : R := Rmin T ((n + 1) / 2) - 1 / 2.

Definition extreme_node (first last : Z) (q T : R) (is_maximum : bool) (near : Z -> Z) : node :=
  Node first last q 0 near (fun n => if is_maximum then n - inside T n else inside T n).

(* Of dpfast/statistics/quantiles/exponential.py, ExponentialExtreme: a minimum or maximum is so for
   c = epsilon / 2 under replace and under add-remove. *)
Theorem extreme_private : forall (Row : Type) (cell : Row -> Z) first last q T is_maximum near base
    epsilon c,
  (forall v, (first <= cell v <= last)%Z) -> 0 <= q <= 1 -> steps near ->
  is_base (cells first last) base -> 0 <= c <= epsilon / 2 ->
  private_of_bounded_range replaces_kept epsilon (cells first last) base c
    (fun x => utility (extreme_node first last q T is_maximum near) (on_cells cell x)).
Proof.
  intros Row cell a b q T m w base epsilon c Hcell Hq Hw Hb Hc.
  apply (kept_suffice _ cell (extreme_node a b q T m w)); try easy.
  intros n. unfold extreme_node, target, inside, Rmin. destruct m; repeat destruct Rle_dec; lra.
Qed.
