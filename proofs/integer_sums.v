(* Integer sums over rows, and what the sums of neighbors can differ by. *)

From Coq Require Import ZArith Lia List Permutation Bool.
Import ListNotations.
Open Scope Z_scope.

(* The sum of f over a list. *)
Fixpoint sum_of {A : Type} (f : A -> Z) (l : list A) : Z :=
  match l with
  | [] => 0
  | x :: rest => f x + sum_of f rest
  end.

Lemma sum_app : forall A (f : A -> Z) l m, sum_of f (l ++ m) = sum_of f l + sum_of f m.
Proof. induction l as [|x l IH]; intros m; simpl; [|rewrite IH]; lia. Qed.

Lemma sum_map : forall A B (g : A -> B) (f : B -> Z) l,
  sum_of f (map g l) = sum_of (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma sum_equal : forall A (f g : A -> Z) l,
  (forall x, In x l -> f x = g x) -> sum_of f l = sum_of g l.
Proof. induction l as [|x l IH]; simpl; intros H; [|rewrite (H x), IH]; auto. Qed.

Lemma sum_monotone : forall A (f g : A -> Z) l,
  (forall x, In x l -> f x <= g x) -> sum_of f l <= sum_of g l.
Proof. induction l as [|x l IH]; simpl; intros H; [lia|]. apply Z.add_le_mono; auto. Qed.

Lemma sum_nonnegative : forall A (f : A -> Z) l, (forall x, In x l -> 0 <= f x) -> 0 <= sum_of f l.
Proof. induction l as [|x l IH]; simpl; intros H; [lia|]. apply Z.add_nonneg_nonneg; auto. Qed.
Lemma sum_zero : forall A (l : list A), sum_of (fun _ => 0) l = 0.
Proof. induction l; simpl; auto. Qed.
Lemma square_at_most : forall z m, Z.abs z <= m -> z * z <= m * m.
Proof. intros z m H. rewrite <- (Z.abs_square z). apply Z.square_le_mono_nonneg; lia. Qed.

(* a f + b g + c, summed. *)
Lemma sum_linear : forall A (f g : A -> Z) a b c l,
  sum_of (fun x => a * f x + b * g x + c) l
  = a * sum_of f l + b * sum_of g l + c * Z.of_nat (length l).
Proof.
  induction l as [|x l IH]; cbn [sum_of length].
  - simpl (Z.of_nat 0). ring.
  - rewrite IH, Nat2Z.inj_succ. ring.
Qed.

Lemma sum_bounded : forall A (f : A -> Z) lo hi l, (forall x, In x l -> lo <= f x <= hi) ->
  lo * Z.of_nat (length l) <= sum_of f l <= hi * Z.of_nat (length l).
Proof.
  induction l as [|x l IH]; cbn [sum_of length]; intros H; [lia|].
  pose proof (H x (or_introl eq_refl)). rewrite Nat2Z.inj_succ.
  specialize (IH (fun y I => H y (or_intror I))). lia.
Qed.

(* Of csrc/summaries/quantise.h: no order of the rows changes a sum. *)
Theorem no_order_changes_a_sum : forall A (f : A -> Z) x y,
  Permutation x y -> sum_of f x = sum_of f y.
Proof. induction 1; simpl; lia. Qed.

(* Of csrc/summaries/quantise.h: no cut into chunks changes a sum, nor who adds up which chunk. *)
Theorem no_cut_changes_a_sum : forall A (f : A -> Z) (rows : list A) chunks,
  Permutation rows (concat chunks) -> sum_of (sum_of f) chunks = sum_of f rows.
Proof.
  intros A f rows chunks H. rewrite (no_order_changes_a_sum _ f _ _ H). clear H rows.
  induction chunks as [|c rest IH]; simpl; [|rewrite sum_app]; lia.
Qed.

(* * What the sums of neighbors can differ by *)

Inductive relation : Type := AddRemove | Replace.

Inductive neighbors {Row : Type} : relation -> list Row -> list Row -> Prop :=
  | row_added : forall before row after,
      neighbors AddRemove (before ++ after) (before ++ row :: after)
  | row_removed : forall before row after,
      neighbors AddRemove (before ++ row :: after) (before ++ after)
  | row_replaced : forall before row other after,
      neighbors Replace (before ++ row :: after) (before ++ other :: after).

(* How many rows make up a difference. *)
Definition sides (r : relation) : Z := match r with AddRemove => 1 | Replace => 2 end.

(* The vector of the differences of the sums of some features. *)
Definition difference {Row : Type} (features : list (Row -> Z)) (x y : list Row) : list Z :=
  map (fun f => sum_of f x - sum_of f y) features.

(* The largest difference of sums, as in dpfast/noise/sensitivity.py: how many sums differ, the L1
   norm, the square of the L2 norm, and the L-infinity norm. *)
Record sensitivity : Type := Sensitivity { l0 : Z; l1 : Z; l2_squared : Z; linf : Z }.

Definition covers (s : sensitivity) (v : list Z) : Prop :=
  sum_of (fun z => if z =? 0 then 0 else 1) v <= l0 s /\ sum_of Z.abs v <= l1 s /\
  sum_of (fun z => z * z) v <= l2_squared s /\ (forall z, In z v -> Z.abs z <= linf s).

(* The sensitivity of one integer. *)
Definition of_one (size : Z) : sensitivity := Sensitivity 1 size (size * size) size.

Lemma covers_one : forall size z, Z.abs z <= size -> covers (of_one size) [z].
Proof.
  intros size z H. unfold covers; cbn [sum_of of_one l0 l1 l2_squared linf In].
  pose proof (square_at_most _ _ H).
  repeat split; [destruct (z =? 0); lia | lia | lia | intros ? [<-|[]]; lia].
Qed.

(* Of dpfast/summaries/cells.py: a cell is a function of its row alone, so a row that changes only
   changes its own cell, and neighbors stay neighbors. *)
Theorem cells_of_neighbors : forall (Row Cell : Type) (u : Row -> Cell) r x y,
  neighbors r x y -> neighbors r (map u x) (map u y).
Proof. intros Row Cell u r x y []; rewrite !map_app; constructor. Qed.

(* What is added by a row, or by none. *)
Definition of_side {Row : Type} (f : Row -> Z) (row : option Row) : Z :=
  match row with Some row => f row | None => 0 end.

Lemma difference_of_sides : forall Row (features : list (Row -> Z)) r x y, neighbors r x y ->
  exists a b, difference features x y = map (fun f => of_side f a - of_side f b) features /\
    (forall row, a = Some row \/ b = Some row -> In row (x ++ y)) /\
    match r, a, b with
    | AddRemove, None, Some _ | AddRemove, Some _, None | Replace, Some _, Some _ => True
    | _, _, _ => False
    end.
Proof.
  intros Row features r x y [before row after|before row after|before row other after];
    [exists None, (Some row) | exists (Some row), None | exists (Some row), (Some other)];
    (split; [apply map_ext; intros f; rewrite !sum_app; simpl; lia | split; [|easy]]);
    intros z; rewrite !in_app_iff; simpl; intros [[=]|[=]]; subst; tauto.
Qed.

(* Of dpfast/measurement/features.py, in general: a property of what a row adds, or of what two rows
   add less one another, is one of the difference of neighbors, if no sign matters. It may be any
   bound of any norm. *)
Theorem difference_is_of_rows : forall Row (features : list (Row -> Z)) (P : list Z -> Prop) r x y,
  neighbors r x y ->
  (forall v, P v -> P (map Z.opp v)) ->
  match r with
  | AddRemove => forall row, In row (x ++ y) -> P (map (fun f => f row) features)
  | Replace => forall row other, In row (x ++ y) -> In other (x ++ y) ->
      P (map (fun f => f row - f other) features)
  end ->
  P (difference features x y).
Proof.
  intros Row features P r x y N S H.
  destruct (difference_of_sides _ features _ _ _ N) as (a & b & -> & I & C).
  destruct r, a as [row|], b as [other|]; try easy; [| |apply H; auto];
    [specialize (H row (I row (or_introl eq_refl)))|
     specialize (S _ (H other (I other (or_intror eq_refl)))); rewrite map_map in S].
  - erewrite map_ext; [exact H|]. simpl; lia.
  - erewrite map_ext; [exact S|]. simpl; lia.
Qed.

(* Feature.sensitivity of dpfast/measurement/features.py. *)
Definition feature_sensitivity (r : relation) (n_is_public : bool) (lo hi : Z) : Z :=
  match r with
  | AddRemove => Z.max (Z.abs lo) (Z.abs hi)
  | Replace => if n_is_public then hi - lo else Z.max hi 0 - Z.min lo 0
  end.

(* Of dpfast/measurement/features.py: the sums of a feature between lo and hi differ by at most
   max(|lo|, |hi|) if a row is added or removed, hi - lo if a row is replaced where n is public, and
   max(hi, 0) - min(lo, 0) if a row is replaced and may also enter or leave a mask, and so add 0. *)
Theorem sum_of_a_feature : forall Row (feature : Row -> Z) n_is_public lo hi r x y,
  neighbors r x y ->
  (forall row, In row (x ++ y) ->
    lo <= feature row <= hi \/ (n_is_public = false /\ feature row = 0)) ->
  covers (of_one (feature_sensitivity r n_is_public lo hi)) (difference [feature] x y).
Proof.
  intros Row f p lo hi r x y N B.
  destruct (difference_of_sides _ [f] _ _ _ N) as (a & b & -> & I & C). apply covers_one.
  assert (L : forall row, a = Some row \/ b = Some row ->
    lo <= f row <= hi \/ (p = false /\ f row = 0)) by auto.
  destruct r, a as [row|], b as [other|]; try easy; cbn [of_side feature_sensitivity];
    try pose proof (L row (or_introl eq_refl)); try pose proof (L other (or_intror eq_refl));
    destruct p; intuition (try discriminate; lia).
Qed.

(* Setting.norm of dpfast/measurement/linear.py, for units of one row. *)
Definition norm_of (r : relation) (norm : Z) (features : nat) : sensitivity :=
  Sensitivity (Z.of_nat features) (sides r * norm) (sides r * (norm * norm)) norm.

Lemma nonzeros_at_most_length : forall v,
  sum_of (fun z => if z =? 0 then 0 else 1) v <= Z.of_nat (length v).
Proof.
  intros v. rewrite <- (Z.mul_1_l (Z.of_nat _)). apply (sum_bounded _ _ 0).
  intros z _. destruct (z =? 0); lia.
Qed.

(* Two vectors that are not negative. *)
Lemma norms_of_two : forall A (f g : A -> Z) l,
  (forall c, In c l -> 0 <= f c /\ 0 <= g c) ->
  forall v, v = map (fun c => f c - g c) l ->
  sum_of Z.abs v <= sum_of f l + sum_of g l /\
  sum_of (fun z => z * z) v <= sum_of f l * sum_of f l + sum_of g l * sum_of g l /\
  (forall z, In z v -> Z.abs z <= Z.max (sum_of f l) (sum_of g l)).
Proof.
  intros A f g l. induction l as [|c l IH]; intros H v ->; simpl.
  - repeat split; [lia | lia | intros ? []].
  - destruct (IH (fun c I => H c (or_intror I)) _ eq_refl) as (A1 & A2 & A3).
    destruct (H c (or_introl eq_refl)).
    assert (0 <= sum_of f l) by (apply sum_nonnegative; intros; now apply H; right).
    assert (0 <= sum_of g l) by (apply sum_nonnegative; intros; now apply H; right).
    repeat split; [lia | nia | intros z [<-|I]; [lia | specialize (A3 z I); lia]].
Qed.

(* Of dpfast/measurement/features.py: features that are not negative and add up to at most `norm`
   have that L1 norm, and no larger L2 norm. Two such vectors differ by at most twice that in L1,
   and by its root of two in L2. *)
Theorem sums_of_a_norm : forall Row (features : list (Row -> Z)) norm r x y,
  neighbors r x y ->
  (forall row, In row (x ++ y) -> (forall f, In f features -> 0 <= f row) /\
    sum_of (fun f => f row) features <= norm) ->
  covers (norm_of r norm (length features)) (difference features x y).
Proof.
  intros Row fs norm r x y N H. destruct (difference_of_sides _ fs _ _ _ N) as (a & b & -> & I & C).
  assert (Q : forall side, side = a \/ side = b -> (forall f, In f fs -> 0 <= of_side f side) /\
    0 <= sum_of (fun f => of_side f side) fs <= of_side (fun _ => norm) side).
  { intros [row|] E; simpl.
    - destruct (H row) as (P & S); [apply I; intuition congruence|].
      repeat split; auto. now apply sum_nonnegative.
    - now rewrite sum_zero. }
  destruct (Q a) as (A1 & A2), (Q b) as (B1 & B2); auto.
  destruct (norms_of_two _ (fun f => of_side f a) (fun f => of_side f b) fs)
    with (v := map (fun f => of_side f a - of_side f b) fs) as (D1 & D2 & D3); auto.
  assert (0 <= of_side (fun _ => norm) a /\ 0 <= of_side (fun _ => norm) b) by lia.
  assert (S : sum_of (fun f => of_side f a) fs + sum_of (fun f => of_side f b) fs <= sides r * norm
    /\ sum_of (fun f => of_side f a) fs <= norm /\ sum_of (fun f => of_side f b) fs <= norm) by
    (destruct r, a, b; try easy; cbn [sides of_side] in *; lia).
  repeat split; cbn [norm_of l0 l1 l2_squared linf].
  - rewrite <- (map_length (fun f => of_side f a - of_side f b)). apply nonzeros_at_most_length.
  - lia.
  - destruct r, a, b; try easy; cbn [sides of_side] in *; nia.
  - intros z J. specialize (D3 z J). lia.
Qed.

(* * The features that dpfast ships *)

(* A row counts with its cell, misses a number, or is left out by a mask. *)
Inductive row : Type := Cell (u : Z) | Missing | LeftOut.

(* Feature of dpfast/measurement/features.py: the factors of the cell, of 1 and of the squared cell,
   the least and the largest value, and the value of a row without a number. *)
Record feature : Type := Feature { factors : Z * Z * Z; lo : Z; hi : Z; missing : Z }.

Definition value (f : feature) (r : row) : Z :=
  match r with
  | Cell u => let '(a, b, c) := factors f in a * u + b + c * (u * u)
  | Missing => missing f
  | LeftOut => 0
  end.

(* The value of each cell from 0 to span is from lo to hi, and so is that of a row without a number,
   or it is 0. *)
Definition has_its_range (span : Z) (f : feature) : Prop :=
  (forall u, 0 <= u <= span -> lo f <= value f (Cell u) <= hi f) /\
  (lo f <= missing f <= hi f \/ missing f = 0).

(* The cells are those of a grid, and where n is public each row has one. *)
Definition table_of (span : Z) (n_is_public : bool) (x : list row) : Prop :=
  forall u, In u x -> match u with Cell u => 0 <= u <= span | _ => n_is_public = false end.

(* Of dpfast/statistics/totals/count.py. *)
Definition every : feature := Feature (0, 1, 0) 1 1 1.
Definition present : feature := Feature (0, 1, 0) 0 1 0.
Definition without_number : feature := Feature (0, 0, 0) 0 1 1.
Definition nonzero : feature := Feature (1, 0, 0) 0 1 0.

(* Of dpfast/statistics/totals/moments.py, for cells u of 0 .. s: the sum, with 0 in the range if
   rows may miss a number; the pair of the mean, and its number of rows with the centered sum; the
   triple of the variance, and the centered sum of squares. *)
Definition summed (first s : Z) (misses : bool) : feature :=
  Feature (1, first, 0) (if misses then Z.min first 0 else first)
    (if misses then Z.max (first + s) 0 else first + s) 0.
Definition centered (f : feature) : feature :=
  let '(a, b, c) := factors f in let width := hi f - lo f in
  Feature (2 * a, 2 * b - (lo f + hi f), 2 * c) (- width) width (2 * missing f - (lo f + hi f)).
Definition upper (s : Z) : feature := Feature (1, 0, 0) 0 s 0.
Definition lower (s : Z) : feature := Feature (-1, s, 0) 0 s 0.
Definition rows : feature := Feature (0, 1, 0) 1 1 0.
Definition centered_cell (s : Z) : feature := Feature (2, - s, 0) (- s) s 0.
Definition high (s : Z) : feature := Feature (0, 0, 1) 0 (s * s) 0.
Definition middle (s : Z) : feature := Feature (2 * s, 0, -2) 0 (s * s) 0.
Definition low (s : Z) : feature := Feature (-2 * s, s * s, 1) 0 (s * s) 0.
Definition square (s : Z) : feature := Feature (-8 * s, s * s, 8) (- (s * s)) (s * s) 0.

Lemma positive_products : forall u s, 0 <= u <= s ->
  0 <= u * u /\ 0 <= u * (s - u) /\ 0 <= (s - u) * (s - u) /\ 0 <= (2 * u - s) * (2 * u - s).
Proof.
  intros u s U. repeat split; try apply Z.square_nonneg. apply Z.mul_nonneg_nonneg; lia.
Qed.

(* Of dpfast/statistics/totals/moments.py: the features of counts, sums, means and variances have
   the ranges that are stated with them. *)
Theorem shipped_ranges : forall s first misses, 0 <= s ->
  Forall (has_its_range s) [every; present; without_number; rows; summed first s misses;
    upper s; lower s; centered_cell s; high s; middle s; low s; square s] /\
  has_its_range 1 nonzero.
Proof.
  intros s first misses S. split.
  - repeat apply Forall_cons; try apply Forall_nil;
      (split; [intros u U; destruct (positive_products u s U) as (P1 & P2 & P3 & P4)|];
        destruct misses; cbn - [Z.mul]; lia).
  - split; [intros u U|]; cbn - [Z.mul]; lia.
Qed.

(* Of dpfast/measurement/features.py: twice the difference between a feature and the middle of its
   range is between - (hi - lo) and hi - lo. *)
Theorem centered_range : forall span f, has_its_range span f -> lo f <= missing f <= hi f ->
  has_its_range span (centered f).
Proof.
  intros span [[[a b] c] l h m] (R & _) M.
  unfold has_its_range, centered, value in *. cbn - [Z.mul] in *.
  split; [intros u U; specialize (R u U); lia | lia].
Qed.

(* Of dpfast/measurement/linear.py: each sum of a feature gets noise for this sensitivity. *)
Theorem sums_of_shipped_features : forall f span n_is_public r x y,
  has_its_range span f -> neighbors r x y -> table_of span n_is_public (x ++ y) ->
  covers (of_one (feature_sensitivity r n_is_public (lo f) (hi f))) (difference [value f] x y).
Proof.
  intros f span p r x y (R & M) N T. apply sum_of_a_feature; [easy|]. intros [u| |] I;
    specialize (T _ I); simpl in T; [left; now apply R | | now right].
  destruct M as [M|M]; [now left | now right].
Qed.

(* Of dpfast/statistics/totals/moments.py: u and s - u add up to s. So the sums of the mean's pair
   have an L1 and an L2 sensitivity of s, and of 2 s and root 2 s if a row is replaced. *)
Theorem pair_of_the_mean : forall s n_is_public r x y, 0 <= s ->
  neighbors r x y -> table_of s n_is_public (x ++ y) ->
  covers (norm_of r s 2) (difference (map value [upper s; lower s]) x y).
Proof.
  intros s p r x y S N T. apply (sums_of_a_norm _ (map value [upper s; lower s])); [easy|].
  intros u I. specialize (T _ I). split; [intros f [<-|[<-|[]]]|];
    destruct u; simpl in T; cbn - [Z.mul]; lia.
Qed.

(* Of dpfast/statistics/totals/moments.py: u^2, 2 u (s - u) and (s - u)^2 add up to s^2, which is
   the norm of the sums of the variance's triple. *)
Theorem triple_of_the_variance : forall s n_is_public r x y, 0 <= s ->
  neighbors r x y -> table_of s n_is_public (x ++ y) ->
  covers (norm_of r (s * s) 3) (difference (map value [high s; middle s; low s]) x y).
Proof.
  intros s p r x y S N T. apply (sums_of_a_norm _ (map value [high s; middle s; low s])); [easy|].
  intros u I. specialize (T _ I). split; [intros f [<-|[<-|[<-|[]]]]|];
    destruct u as [u| |]; try (cbn; nia);
    destruct (positive_products u s T) as (P1 & P2 & P3 & P4); cbn - [Z.mul]; lia.
Qed.

(* n sum(u^2) - sum(u)^2. *)
Definition pairs (x : list Z) : Z :=
  Z.of_nat (length x) * sum_of (fun u => u * u) x - sum_of (fun u => u) x * sum_of (fun u => u) x.

Lemma pairs_with_a_row : forall before u after,
  pairs (before ++ u :: after)
  = sum_of (fun v => (u - v) * (u - v)) (before ++ after) + pairs (before ++ after).
Proof.
  intros before u after. unfold pairs. rewrite !sum_app, !app_length. cbn [sum_of length].
  assert (S : forall l, sum_of (fun v => (u - v) * (u - v)) l =
    Z.of_nat (length l) * (u * u) - 2 * u * sum_of (fun v => v) l + sum_of (fun v => v * v) l).
  { induction l as [|v l IH]; cbn [sum_of length]; [lia | rewrite IH, Nat2Z.inj_succ; ring]. }
  rewrite !S, !Nat2Z.inj_add, Nat2Z.inj_succ. ring.
Qed.

(* Of dpfast/statistics/totals/moments.py: where n is public, n - 1 of the squared distances of all
   pairs change with a row, each between 0 and s^2, for cells of 0 .. s. *)
Theorem squared_distances_of_pairs : forall s x y,
  neighbors Replace x y -> (forall u, In u (x ++ y) -> 0 <= u <= s) ->
  Z.abs (pairs x - pairs y)
  <= (Z.of_nat (length x) - 1) * feature_sensitivity Replace true 0 (s * s).
Proof.
  intros s x y N R. inversion N as [| |before u v after E F]; subst.
  rewrite !pairs_with_a_row. set (rest := before ++ after).
  assert (B : forall w, In w [u; v] -> 0 <= sum_of (fun v => (w - v) * (w - v)) rest
    <= s * s * Z.of_nat (length rest)).
  { intros w W. rewrite <- (Z.mul_0_l (Z.of_nat (length rest))). apply sum_bounded. intros z J.
    assert (0 <= w <= s /\ 0 <= z <= s) as (? & ?).
    { unfold rest in J. rewrite in_app_iff in J. split; apply R; rewrite !in_app_iff; simpl in *;
        tauto. }
    assert (- s <= w - z <= s) by lia. split; [apply Z.square_nonneg | nia]. }
  pose proof (B u (or_introl eq_refl)). pose proof (B v (or_intror (or_introl eq_refl))).
  replace (length (before ++ u :: after)) with (S (length rest)) by
    (unfold rest; rewrite !app_length; simpl; lia).
  rewrite Nat2Z.inj_succ. cbn [feature_sensitivity]. lia.
Qed.

(* Of dpfast/statistics/histogram.py: to cut all sums at 2^62 only brings them closer together. *)
Theorem cut_sums_are_closer : forall A (f g : A -> Z) s most l, 0 <= most ->
  let cut := fun z => Z.max (- most) (Z.min most z) in
  covers s (map (fun c => f c - g c) l) -> covers s (map (fun c => cut (f c) - cut (g c)) l).
Proof.
  intros A f g s most l M cut (C0 & C1 & C2 & C3). unfold covers. rewrite !sum_map in *.
  assert (N : forall c, Z.abs (cut (f c) - cut (g c)) <= Z.abs (f c - g c)) by
    (unfold cut; lia).
  repeat split;
    try (etransitivity; [apply sum_monotone; intros c _; specialize (N c) | eassumption]).
  - simpl. destruct (Z.eqb_spec (cut (f c) - cut (g c)) 0), (Z.eqb_spec (f c - g c) 0); lia.
  - exact N.
  - cbv beta. rewrite <- (Z.abs_square (f c - g c)). now apply square_at_most.
  - intros z (c & <- & I)%in_map_iff. specialize (N c).
    specialize (C3 (f c - g c) (in_map _ _ _ I)). lia.
Qed.
