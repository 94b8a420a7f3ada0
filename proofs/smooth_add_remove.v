(* Sensitivity of the lower quantile when a row is added or removed. *)

From Coq Require Import ZArith ZifyNat Reals Lra Lia List Bool Arith Permutation.
From Dpfast Require Import order_statistics.
From Dpfast Require Import smooth_replace(greatest, greatest_above, weight_next, weight_decreases,
  weigh).
Import ListNotations.
Open Scope R_scope.

(* Smooth sensitivity of any statistic under any neighboring relation *)

(* y is reached from x by k steps or fewer, each to a neighbor. *)
Inductive distance_at_most {T : Type} (neighbors : T -> T -> Prop) : nat -> T -> T -> Prop :=
| no_step : forall k x, distance_at_most neighbors k x x
| one_step : forall k x y z, distance_at_most neighbors k x y -> neighbors y z ->
    distance_at_most neighbors (S k) x z.

(* How far the statistic of a table at distance k or less can be from that of its neighbor. The
   greatest is A(k), the local sensitivity at distance k. *)
Definition change_within {T : Type} (neighbors : T -> T -> Prop) (f : T -> R) (k : nat) (x : T)
    (d : R) : Prop :=
  exists y z, distance_at_most neighbors k x y /\ neighbors y z /\ d = Rabs (f y - f z).

(* The same times e^(-beta k), of all k. The greatest is the smooth sensitivity. *)
Definition change_weighted {T : Type} (neighbors : T -> T -> Prop) (f : T -> R) (beta : R) (x : T)
    (s : R) : Prop :=
  exists k d, change_within neighbors f k x d /\ s = d * exp (- beta * INR k).

(* A beta-smooth upper bound on the local sensitivity. *)
Definition smooth_bound {T : Type} (neighbors : T -> T -> Prop) (f : T -> R) (beta : R)
    (bound : T -> R) : Prop :=
  forall x y, neighbors x y -> Rabs (f x - f y) <= bound x /\ bound x <= exp beta * bound y.

Lemma step_first : forall (T : Type) (neighbors : T -> T -> Prop) k x y z,
  neighbors x y -> distance_at_most neighbors k y z -> distance_at_most neighbors (S k) x z.
Proof. induction 2; eauto using no_step, one_step. Qed.

(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity is a beta-smooth upper bound. *)
Theorem smooth_sensitivity_is_smooth : forall (T : Type) (neighbors : T -> T -> Prop) f beta S,
  (forall x y, neighbors x y -> neighbors y x) ->
  (forall x y, neighbors x y -> is_maximum (S x) (change_weighted neighbors f beta x)) ->
  smooth_bound neighbors f beta S.
Proof.
  intros T neighbors f beta S symmetric maximum x y Hxy. split.
  - apply (maximum x y Hxy). exists 0%nat, (Rabs (f x - f y)).
    split; [exists x, y; auto using no_step|]. simpl. rewrite Rmult_0_r, exp_0. ring.
  - destruct (maximum x y Hxy) as [(k & d & (u & v & Hu & Huv & ->) & ->) _].
    assert (Rabs (f u - f v) * exp (- beta * INR (1 + k)) <= S y).
    { apply (maximum y x (symmetric _ _ Hxy)). exists (1 + k)%nat, (Rabs (f u - f v)).
      split; [exists u, v|reflexivity]. eauto using step_first. }
    rewrite weight_next. pose proof (exp_pos beta). simpl plus in *. nra.
Qed.

(* Of dpfast/sensitivity/quantile.py: no beta-smooth upper bound is smaller. *)
Theorem smooth_sensitivity_is_smallest : forall (T : Type) (neighbors : T -> T -> Prop) f beta
    bound x s,
  (forall x y, neighbors x y -> neighbors y x) -> 0 <= beta ->
  smooth_bound neighbors f beta bound ->
  is_maximum s (change_weighted neighbors f beta x) -> s <= bound x.
Proof.
  intros T neighbors f beta bound x s symmetric Hbeta smooth [(k & d & change & ->) _].
  destruct change as (y & z & Hy & Hyz & ->).
  assert (bound y * exp (- beta * INR k) <= bound x) as H.
  { revert z Hyz. induction Hy as [k x|k x y' y Hy IH Hy']; intros z Hyz.
    - pose proof (weight_decreases beta 0 k Hbeta (Nat.le_0_l k)) as W. simpl in W.
      rewrite Rmult_0_r, exp_0 in W. pose proof (proj1 (smooth _ _ Hyz)).
      pose proof (Rabs_pos (f x - f z)). nra.
    - specialize (IH y Hy'). rewrite weight_next in IH.
      pose proof (proj2 (smooth _ _ (symmetric _ _ Hy'))).
      pose proof (exp_pos (- beta * INR (S k))). nra. }
  apply Rle_trans with (2 := H). now apply weigh, (smooth y z).
Qed.

Lemma greatest_squeezed : forall l (among : R -> Prop), (exists w, among w /\ 0 <= w) ->
  (forall u, In u l -> exists w, among w /\ u <= w) ->
  (forall w, among w -> exists u, In u l /\ w <= u) -> is_maximum (greatest l) among.
Proof.
  intros l among Hzero Hin Habove. apply squeezed.
  - assert (greatest l = 0 \/ In (greatest l) l) as [->|H]; auto.
    clear. induction l as [|u l IH]; simpl; [now left|]. apply Rmax_case; tauto.
  - intros w Hw. destruct (Habove w Hw) as (u & Hu & H). apply Rle_trans with (1 := H).
    now apply greatest_above.
Qed.

(* Gaps at distances are all changes: then the greatest gap at distance k or less is the local
   sensitivity, and the greatest weighted gap is the smooth one. *)
Lemma gaps_exact : forall (T : Type) (neighbors : T -> T -> Prop) f x (A : Type) (l : list A) gap
    (distance : A -> nat),
  (forall k, exists d, change_within neighbors f k x d) ->
  (forall a k, In a l -> (distance a <= k)%nat ->
    exists d, change_within neighbors f k x d /\ gap a <= d) ->
  (forall k d, change_within neighbors f k x d ->
    exists a, In a l /\ (distance a <= k)%nat /\ d <= gap a) ->
  (forall k, is_maximum (greatest (map gap (filter (fun a => distance a <=? k)%nat l)))
    (change_within neighbors f k x)) /\
  forall beta, 0 <= beta ->
    is_maximum (greatest (map (fun a => gap a * exp (- beta * INR (distance a))) l))
      (change_weighted neighbors f beta x).
Proof.
  intros T neighbors f x A l gap distance Some Attained Above.
  assert (Positive : forall k d, change_within neighbors f k x d -> 0 <= d)
    by (intros k d (y & z & _ & _ & ->); apply Rabs_pos).
  split; [intros k|intros beta Hbeta]; apply greatest_squeezed.
  - destruct (Some k) as (d & Hd). eauto.
  - intros u (a & <- & [Ha Hk%Nat.leb_le]%filter_In)%in_map_iff. now apply Attained.
  - intros d Hd. destruct (Above k d Hd) as (a & Ha & Hk & H). exists (gap a).
    split; [|exact H]. apply in_map, filter_In. now rewrite Nat.leb_le.
  - destruct (Some 0%nat) as (d & Hd). exists (d * exp (- beta * INR 0)).
    split; [now exists 0%nat, d|]. apply Rmult_le_pos; [eauto|left; apply exp_pos].
  - intros u (a & <- & Ha)%in_map_iff. destruct (Attained a _ Ha (le_n _)) as (d & Hd & H).
    exists (d * exp (- beta * INR (distance a))).
    split; [now exists (distance a), d|now apply weigh].
  - intros w (k & d & Hd & ->). destruct (Above k d Hd) as (a & Ha & Hk & H).
    exists (gap a * exp (- beta * INR (distance a))).
    split; [now apply (in_map (fun a => gap a * exp (- beta * INR (distance a))))|].
    apply Rmult_le_compat; [eauto|left; apply exp_pos|exact H|now apply weight_decreases].
Qed.

(* Tables, and the quantile *)

(* The values of the rows lie in [lo, hi]; there may be any number of rows. *)
Definition table (lo hi : R) (x : list R) : Prop := Forall (fun v => lo <= v <= hi) x.

(* Two tables, of which one has the rows of the other and a row v more. Rows have no order. *)
Definition neighbors (lo hi : R) (x y : list R) : Prop :=
  table lo hi x /\ table lo hi y /\ exists v, Permutation (v :: x) y \/ Permutation (v :: y) x.

Definition of_rank (lo hi : R) (m : nat -> nat) (x : list R) : R :=
  order_statistic lo hi x (m (length x)).

(* The rank min(max(1, ceil(q n)), n) of the quantile of share q = p / r. The quantile of no rows
   is lo for q <= 1/2, and hi otherwise: the values of their ranks 0 and 1. *)
Definition quantile_rank (p r n : nat) : nat :=
  match n with
  | 0%nat => if (2 * p <=? r)%nat then 0%nat else 1%nat
  | _ => Nat.min (Nat.max 1 ((p * n + (r - 1)) / r)) n
  end.

Definition quantile (lo hi : R) (p r : nat) : list R -> R := of_rank lo hi (quantile_rank p r).

(* The lower median. *)
Definition median (lo hi : R) : list R -> R := quantile lo hi 1 2.

(* Rank rules: a row more raises the rank by 0 or 1. *)
Definition rank_rule (m : nat -> nat) : Prop :=
  (m 0 <= 1)%nat /\ m 1%nat = 1%nat /\ forall n, (m n <= m (S n) <= S (m n))%nat.

(* L rows up to a gap and U rows beyond it: rank L is below the gap, and L + 1 above. The gap is
   active when the statistic is on one side, and that of a row more or less on the other. *)
Definition active (m : nat -> nat) (L U : nat) : bool :=
  (((m (L + U) =? L) || (m (L + U) =? L + 1)) &&
   ((m (L + U + 1) =? L + 1) || (1 <=? L + U) && (m (L + U - 1) =? L)))%nat.

Definition apart (a b : nat) : nat := a - b + (b - a).

(* Removing the rows between ranks i and j, and then bringing the numbers of rows below and above
   to those of an active gap, costs k or less. *)
Definition reachable (m : nat -> nat) (n i j k : nat) : Prop :=
  exists L U, active m L U = true /\
    (j - i - 1 + apart L i + apart U (n + 1 - j) <= k)%nat.

Lemma rank_bounds : forall m n, rank_rule m -> (m n <= n + 1 /\ (1 <= n -> 1 <= m n <= n))%nat.
Proof.
  intros m n (H0 & H1 & H). induction n as [|[|n] IH]; [lia..|]. specialize (H (S n)). lia.
Qed.

Lemma active_true : forall m n L U, (L + U = n)%nat ->
  active m L U = true <->
  ((m n = L \/ m n = S L) /\ (m (S n) = S L \/ 1 <= n /\ m (pred n) = L))%nat.
Proof.
  intros m n L U <-. unfold active.
  rewrite andb_true_iff, !orb_true_iff, andb_true_iff, !Nat.eqb_eq, Nat.leb_le.
  now rewrite Nat.sub_1_r, !Nat.add_1_r.
Qed.

Lemma some_active : forall m n, rank_rule m ->
  exists L U, (L + U = n)%nat /\ active m L U = true.
Proof.
  intros m n H. pose proof (rank_bounds m n H) as B. destruct H as (_ & H1 & H).
  exists (m (S n) - 1)%nat, (n - (m (S n) - 1))%nat. specialize (H n).
  split; [|apply (active_true m n)]; destruct n; lia.
Qed.

Lemma count_permutation : forall has (x y : list R), Permutation x y -> count has x = count has y.
Proof. intros has. induction 1; rewrite ?count_cons in *; lia. Qed.

Section Rows.

Variables (lo hi : R) (m : nat -> nat).
Hypothesis limits : lo <= hi.
Hypothesis rule : rank_rule m.
Notation "x .[ i ]" := (order_statistic lo hi x i) (at level 9, format "x .[ i ]").
Notation near := (neighbors lo hi).
Notation f := (of_rank lo hi m).

(* Counts *)

Lemma rank_at_most : forall x i v, lo <= v < hi -> x.[i] <= v <-> (i <= count (at_most v) x)%nat.
Proof.
  intros x [|i] v Hv; [rewrite order_statistic_low; split; [lia|lra]|].
  destruct (le_lt_dec (S i) (length x)); [apply order_statistic_at_most; lia|].
  pose proof (count_length _ (at_most v) x). rewrite order_statistic_high by trivial.
  split; [lra|lia].
Qed.

Lemma rank_at_least : forall x i v, lo < v <= hi ->
  v <= x.[i] <-> (length x < i + count (at_least v) x)%nat.
Proof.
  intros x i v Hv. pose proof (count_length _ (at_least v) x).
  destruct i as [|i]; [rewrite order_statistic_low; split; lra || lia|].
  destruct (le_lt_dec (S i) (length x)); [apply order_statistic_at_least; lia|].
  rewrite order_statistic_high by trivial. split; [lia|lra].
Qed.

Lemma order_bounds : forall x i, table lo hi x -> lo <= x.[i] <= hi.
Proof. intros. now apply order_statistic_bounded with (n := length x). Qed.
Lemma order_increases : forall x i j, table lo hi x -> (i <= j)%nat -> x.[i] <= x.[j].
Proof. intros. now apply order_statistic_increases with (n := length x). Qed.
Lemma neighbors_symmetric : forall x y, near x y -> near y x.
Proof. intros x y (Hx & Hy & v & Hv). repeat split; trivial. exists v. tauto. Qed.
Lemma add_row : forall v x, lo <= v <= hi -> table lo hi x -> near x (v :: x).
Proof. intros. repeat split; [assumption|now constructor|]. exists v. now left. Qed.

Lemma remove_row : forall has x, table lo hi x -> (0 < count has x)%nat ->
  exists u y, has u = true /\ near x y /\
    forall what, count what x = (one (what u) + count what y)%nat.
Proof.
  intros has x T H. apply count_positive in H. destruct H as (l & u & r & -> & Hu).
  pose proof (Permutation_middle l r u) as P. exists u, (l ++ r). repeat split; trivial.
  - unfold table in T. rewrite <- P in T. now inversion T.
  - exists u. now right.
  - intros what. now rewrite <- (count_permutation what _ _ P), count_cons.
Qed.

Lemma some_change : forall g k x, table lo hi x -> exists d, change_within near g k x d /\ 0 <= d.
Proof.
  intros g k x T. exists (Rabs (g x - g (lo :: x))). split; [|apply Rabs_pos].
  exists x, (lo :: x). split; [apply no_step|split; [apply add_row; trivial; lra|reflexivity]].
Qed.

Section Gap.

Variables a b : R.
Hypothesis low : lo <= a.
Hypothesis proper : a < b.
Hypothesis high : b <= hi.

(* A row is of one kind of three: up to a, from b on, or inside. *)
Notation below := (count (at_most a)).
Notation above := (count (at_least b)).
Notation amid := (count (inside a b)).

Lemma one_kind : forall v, (one (at_most a v) + one (at_least b v) + one (inside a b v) = 1)%nat.
Proof.
  intros v. unfold inside, at_most, at_least.
  destruct (Rle_dec v a), (Rle_dec b v); simpl; reflexivity || lra.
Qed.

Lemma kinds : forall x, (below x + above x + amid x = length x)%nat.
Proof. intros. now apply count_parts. Qed.

(* A row more or less moves the statistic over the gap: no row lies inside, and it is active. *)
Lemma gap_crossed : forall y z, near y z -> f y <= a /\ b <= f z \/ f z <= a /\ b <= f y ->
  (below y + above y = length y)%nat /\ active m (below y) (above y) = true.
Proof.
  intros y z (_ & _ & v & Hv) Hf. unfold of_rank in Hf. pose proof (kinds y). pose proof (kinds z).
  rewrite !rank_at_most, !rank_at_least in Hf by lra. destruct rule as (_ & _ & Hm).
  pose proof (one_kind v). pose proof (Hm (length y)). pose proof (Hm (length z)).
  assert (E : (below y + above y = length y)%nat);
    [|split; [exact E|apply (active_true m _ _ _ E)]];
    destruct Hv as [P|P]; pose proof (count_permutation (at_most a) _ _ P) as Ca;
    pose proof (count_permutation (at_least b) _ _ P) as Cb; rewrite count_cons in Ca, Cb;
    apply Permutation_length in P; simpl in P; rewrite <- P in *; simpl pred; lia.
Qed.

Lemma distance_counts : forall k x y, distance_at_most near k x y ->
  (apart (below y) (below x) + apart (amid y) (amid x) + apart (above y) (above x) <= k)%nat.
Proof.
  unfold apart. induction 1 as [k x|k x y z _ IH (_ & _ & v & Hv)]; [lia|].
  pose proof (one_kind v). destruct Hv as [P|P];
    pose proof (fun has => count_permutation has _ _ P) as C; pose proof (C (at_most a));
    pose proof (C (inside a b)); pose proof (C (at_least b)); rewrite !count_cons in *; lia.
Qed.

Ltac kind v Hv :=
  pose proof (one_kind v); rewrite Hv in *; change (one true) with 1%nat in *; lia.

(* A row is added beside the gap, or removed. *)
Lemma move : forall x A B M, table lo hi x -> (M <= amid x)%nat ->
  (apart A (below x) + apart B (above x) + apart M (amid x) = 1)%nat ->
  exists y, near x y /\ below y = A /\ above y = B /\ amid y = M.
Proof.
  intros x A B M T HM Hd. unfold apart in Hd.
  assert (A = S (below x) \/ B = S (above x) \/ exists has, (0 < count has x)%nat /\
    forall v, has v = true -> below x = one (at_most a v) + A /\
      above x = one (at_least b v) + B /\ amid x = one (inside a b v) + M)%nat as [C|[C|C]].
  { destruct (lt_dec A (below x)); [|destruct (lt_dec B (above x));
      [|destruct (lt_dec M (amid x)); [|lia]]]; right; right;
    [exists (at_most a)|exists (at_least b)|exists (inside a b)];
    (split; [lia|intros v Hv; kind v Hv]). }
  - exists (lo :: x). rewrite !count_cons. split; [apply add_row; trivial; lra|].
    kind lo (proj2 (at_most_true a lo) low).
  - exists (hi :: x). rewrite !count_cons. split; [apply add_row; trivial; lra|].
    kind hi (proj2 (at_least_true b hi) high).
  - destruct C as (has & H & C). destruct (remove_row has x T H) as (u & y & Hu & Hy & E).
    exists y. specialize (C u Hu). rewrite !E in C. split; [exact Hy|lia].
Qed.

(* Rows are moved until L are below the gap, U above, and none inside. *)
Lemma gap_emptied : forall L U k x, table lo hi x ->
  (amid x + apart L (below x) + apart U (above x) <= k)%nat -> exists y,
  distance_at_most near k x y /\ table lo hi y /\ below y = L /\ above y = U /\ amid y = 0%nat.
Proof.
  intros L U. induction k as [|k IH]; intros x T Hk; unfold apart in Hk;
    [exists x; repeat split; trivial using no_step; lia|].
  match goal with |- ?G => assert (Go : forall A B M, (M <= amid x)%nat ->
    (apart A (below x) + apart B (above x) + apart M (amid x) = 1)%nat ->
    (M + apart L A + apart U B <= k)%nat -> G) end.
  { intros A B M HM H1 H2. destruct (move x A B M T HM H1) as (y & Hy & <- & <- & <-).
    destruct (IH y) as (z & Hz & Tz); [apply Hy|exact H2|]. exists z. eauto using step_first. }
  unfold apart in Go.
  destruct (lt_dec 0 (amid x)); [apply (Go (below x) (above x) (amid x - 1)%nat); lia|].
  destruct (lt_dec L (below x)); [apply (Go (below x - 1) (above x) 0)%nat; lia|].
  destruct (lt_dec (below x) L); [apply (Go (S (below x)) (above x) 0%nat); lia|].
  destruct (lt_dec U (above x)); [apply (Go (below x) (above x - 1) 0)%nat; lia|].
  destruct (lt_dec (above x) U); [apply (Go (below x) (S (above x)) 0%nat); lia|].
  exists x. repeat split; trivial using no_step; lia.
Qed.

(* Such a table has a neighbor beyond the gap when it is active. *)
Lemma gap_opened : forall y, table lo hi y -> amid y = 0%nat ->
  active m (below y) (above y) = true -> exists z, near y z /\ b - a <= Rabs (f y - f z).
Proof.
  intros y T M HA. pose proof (kinds y) as N. rewrite (active_true m (length y)) in HA by lia.
  pose proof (rank_bounds m (length y) rule) as Bounds.
  match goal with |- ?G => assert (Far : forall n A B, (A + B = n)%nat ->
    (apart A (below y) + apart B (above y) = 1)%nat -> (m (length y) <= below y /\ n < m n + B \/
    m n <= A /\ length y < m (length y) + above y)%nat -> G) end.
  { intros n A B <- H1 Hf. destruct (move y A B 0%nat T) as (z & Hz & <- & <- & Mz);
      [lia|rewrite M; unfold apart in *; lia|].
    pose proof (kinds z) as K. rewrite Mz, Nat.add_0_r in K. rewrite K in Hf.
    rewrite <- !rank_at_most, <- !rank_at_least in Hf by lra. exists z. split; [exact Hz|].
    unfold of_rank, Rabs. destruct Rcase_abs; lra. }
  unfold apart in Far. destruct HA as [[My|My] [Mz|[Hn Mz]]];
    [apply (Far (S (length y)) (below y) (S (above y)))|
     apply (Far (pred (length y)) (below y - 1) (above y))%nat|
     apply (Far (S (length y)) (S (below y)) (above y))|
     apply (Far (pred (length y)) (below y) (above y - 1))%nat]; lia.
Qed.

End Gap.

(* Upper bound: every change is at most the gap of a reachable pair of ranks. *)
Lemma change_reachable : forall k x d, table lo hi x -> change_within near f k x d ->
  exists i j, (i < j <= length x + 1)%nat /\ reachable m (length x) i j k /\ d <= x.[j] - x.[i].
Proof.
  intros k x d T (y & z & Hy & Hyz & ->).
  pose proof (order_bounds y (m (length y)) (proj1 Hyz)) as By. fold (f y) in By.
  pose proof (order_bounds z (m (length z)) (proj1 (proj2 Hyz))) as Bz. fold (f z) in Bz.
  assert (exists a b, Rabs (f y - f z) = b - a /\ lo <= a <= b /\ b <= hi /\
    (f y <= a /\ b <= f z \/ f z <= a /\ b <= f y)) as (a & b & -> & Ha & Hb & Hf).
  { unfold Rabs. destruct Rcase_abs; [exists (f y), (f z)|exists (f z), (f y)]; lra. }
  destruct (Rlt_le_dec a b) as [Hab|Hab].
  - destruct (gap_crossed a b (proj1 Ha) Hab Hb y z Hyz Hf) as [Sum HA].
    pose proof (distance_counts a b Hab k x y Hy) as D.
    pose proof (kinds a b Hab x) as Kx. pose proof (kinds a b Hab y).
    exists (count (at_most a) x), (length x + 1 - count (at_least b) x)%nat.
    split; [lia|]. split; [|apply Rplus_le_compat; [|apply Ropp_le_contravar];
      apply rank_at_least || apply rank_at_most; lra || lia].
    exists (count (at_most a) y), (count (at_least b) y). split; [exact HA|].
    unfold apart in *. lia.
  - destruct (some_active m (length x) rule) as (L & U & E & HA). exists L, (L + 1)%nat.
    split; [lia|]. split; [exists L, U; split; [exact HA|unfold apart; lia]|].
    pose proof (order_increases x L (L + 1) T ltac:(lia)). lra.
Qed.

(* Attained: rows are moved until a reachable gap is active. *)
Lemma reachable_change : forall k x i j, table lo hi x -> (i < j <= length x + 1)%nat ->
  reachable m (length x) i j k ->
  exists d, change_within near f k x d /\ x.[j] - x.[i] <= d.
Proof.
  intros k x i j T Hij (L & U & HA & Hk).
  pose proof (order_bounds x i T) as [Ba _]. pose proof (order_bounds x j T) as [_ Bb].
  pose proof (count_at_most_order lo hi x i ltac:(lia)) as Hi.
  pose proof (count_at_least_order lo hi x j ltac:(lia)) as Hj.
  destruct (Rlt_le_dec x.[i] x.[j]) as [Hab|Hab].
  - pose proof (kinds _ _ Hab x) as K.
    destruct (gap_emptied _ _ Ba Hab Bb L U k x T) as (y & Dy & Ty & <- & <- & M);
      [unfold apart in *; lia|].
    destruct (gap_opened _ _ Ba Hab Bb y Ty M HA) as (z & Hz & Far).
    exists (Rabs (f y - f z)). split; [now exists y, z|exact Far].
  - destruct (some_change f k x T) as (d & Hd & H). exists d. split; [exact Hd|lra].
Qed.

Lemma least_bound : forall g beta S, 0 <= beta ->
  (forall x, table lo hi x -> is_maximum (S x) (change_weighted near g beta x)) ->
  smooth_bound near g beta S /\
  forall bound, smooth_bound near g beta bound -> forall x, table lo hi x -> S x <= bound x.
Proof.
  intros g beta S Hbeta H. pose proof neighbors_symmetric as Sym. split.
  - apply smooth_sensitivity_is_smooth; [exact Sym|]. intros x y (Tx & _). auto.
  - intros bound Hbound x T. apply (smooth_sensitivity_is_smallest _ near g beta); auto.
Qed.

End Rows.

(* Distances of pairs of ranks *)

(* Ranks of a quantile of q <= 1/2 never rise twice in turn. *)
Definition sparse (m : nat -> nat) : Prop := forall n, (m (S (S n)) <= S (m n))%nat.

(* The ranks counted from above; those of a quantile of q > 1/2 never rise twice in turn. *)
Definition mirrored (m : nat -> nat) (n : nat) : nat := (n + 1 - m n)%nat.

Lemma mirrored_active : forall m L U, rank_rule m -> active (mirrored m) U L = active m L U.
Proof.
  intros m L U Hm. apply eq_true_iff_eq. rewrite !(active_true _ (L + U)) by lia. unfold mirrored.
  pose proof (rank_bounds m (L + U) Hm). pose proof (rank_bounds m (S (L + U)) Hm).
  pose proof (rank_bounds m (pred (L + U)) Hm). lia.
Qed.

Lemma mirrored_rule : forall m, rank_rule m -> rank_rule (mirrored m).
Proof.
  intros m Hm. pose proof (fun n => rank_bounds m n Hm) as B. destruct Hm as (H0 & H1 & H).
  unfold mirrored. repeat split; try lia; specialize (H n); specialize (B n); lia.
Qed.

(* From an active gap, an active gap is one step away in each of some directions. *)
Lemma active_step : forall m L U, rank_rule m -> sparse m -> active m L U = true ->
  (active m (S L) U = true \/ active m L (S U) = true) /\
  (active m L (S U) = true \/ active m (S L) (S U) = true) /\
  (1 <= U -> active m L (U - 1) = true \/ 1 <= L /\ active m (L - 1) (U - 1) = true)%nat /\
  (1 <= L -> 1 <= U -> active m (L - 1) U = true \/ active m L (U - 1) = true)%nat.
Proof.
  intros m L U rule rare. pose (n := (L + U)%nat). pose proof (rank_bounds m (pred n) rule) as B1.
  pose proof (rank_bounds m n rule) as B2. destruct rule as (_ & _ & H). unfold sparse in rare.
  pose proof (H n). pose proof (H (S n)).
  assert (1 <= n -> m (pred n) <= m n <= S (m (pred n)) /\ m (S n) <= S (m (pred n)))%nat
    by (destruct n as [|l]; [lia|intros _; split; [apply H|apply rare]]).
  assert (2 <= n -> m (pred (pred n)) <= m (pred n) /\ m n <= S (m (pred (pred n))))%nat
    by (destruct n as [|[|l]]; [lia..|intros _; split; [apply H|apply rare]]).
  rewrite (active_true m n) by reflexivity. intros HA. repeat split.
  - rewrite !(active_true m (S n)) by lia. simpl pred. lia.
  - rewrite (active_true m (S n)), (active_true m (S (S n))) by lia. simpl pred. lia.
  - intros HU. rewrite (active_true m (pred n)) by lia. replace (S (pred n)) with n by lia.
    destruct L as [|L]; [lia|]. rewrite (active_true m (pred (pred n))) by lia.
    replace (S (pred (pred n))) with (pred n) by lia. lia.
  - intros HL HU. rewrite !(active_true m (pred n)) by lia. replace (S (pred n)) with n by lia. lia.
Qed.

(* So some active gap beside (i, V) is as near as any. *)
Definition axis_reached (m : nat -> nat) (i V L U : nat) : Prop :=
  exists L' U', active m L' U' = true /\ (L' = i \/ U' = V) /\
    (apart L' i + apart U' V <= apart L i + apart U V)%nat.

Lemma beside : forall m i V, rank_rule m -> sparse m -> forall size L U, active m L U = true ->
  (2 * apart L i + 3 * apart U V <= size)%nat -> axis_reached m i V L U.
Proof.
  intros m i V rule rare. induction size as [|size IH]; intros L U HA Hs;
    [exists L, U; unfold apart in Hs; split; [exact HA|lia]|].
  assert (Step : forall L1 U1, active m L1 U1 = true ->
    (apart L1 i + apart U1 V <= apart L i + apart U V)%nat ->
    (2 * apart L1 i + 3 * apart U1 V <= size)%nat -> axis_reached m i V L U).
  { intros L1 U1 HA1 Hd Hs1. destruct (IH L1 U1 HA1 Hs1) as (L' & U' & HA' & Haxis & Hd').
    exists L', U'. repeat split; trivial. lia. }
  clear IH. unfold apart in *. destruct (Nat.eq_dec L i) as [|HL]; [exists L, U; auto|].
  destruct (Nat.eq_dec U V) as [|HU]; [exists L, U; auto|].
  destruct (active_step m L U rule rare HA) as (Up & Forth & Back & Down).
  destruct (lt_dec L i), (lt_dec U V);
    [destruct Up as [A|A]|destruct Back as [A|[? A]]; [lia| |]|destruct Forth as [A|A]|
      destruct Down as [A|A]; [lia..| |]]; apply (Step _ _ A); lia.
Qed.

Lemma along_one_axis : forall m i V L U, rank_rule m -> sparse m \/ sparse (mirrored m) ->
  active m L U = true -> axis_reached m i V L U.
Proof.
  intros m i V L U Hm [Hs|Hs] HA; [now apply (beside m i V Hm Hs _ L U HA (le_n _))|].
  rewrite <- mirrored_active in HA by exact Hm.
  destruct (beside _ V i (mirrored_rule m Hm) Hs _ U L HA (le_n _)) as (U' & L' & HA' & Ha & Hd).
  exists L', U'. rewrite <- mirrored_active by exact Hm. repeat split; [exact HA'|tauto|lia].
Qed.

Lemma quotient_step : forall r a b, (0 < r)%nat -> (a <= b <= a + r)%nat ->
  (a / r <= b / r <= S (a / r))%nat.
Proof.
  intros r a b Hr Hab. rewrite <- Nat.add_1_r, <- Nat.div_add by lia.
  split; apply Nat.div_le_mono; lia.
Qed.

Lemma quantile_rank_rule : forall p r, (0 < r)%nat -> (p <= r)%nat ->
  rank_rule (quantile_rank p r) /\
  (sparse (quantile_rank p r) \/ sparse (mirrored (quantile_rank p r))).
Proof.
  intros p r Hr Hp. pose (c := fun n => ((p * n + (r - 1)) / r)%nat).
  assert (C0 : c 0%nat = 0%nat) by (apply Nat.div_small; lia).
  assert (C : forall n, (c n <= c (S n) <= S (c n))%nat) by (intros n; apply quotient_step; lia).
  assert (Q : forall n, quantile_rank p r (S n) = Nat.min (Nat.max 1 (c (S n))) (S n)) by easy.
  assert (Cn : forall n, (c n <= n)%nat)
    by (induction n as [|n IH]; [lia|specialize (C n); lia]).
  assert (Q0 : (quantile_rank p r 0 = 0 /\ 2 * p <= r \/
    quantile_rank p r 0 = 1 /\ r < 2 * p)%nat)
    by (unfold quantile_rank; destruct (Nat.leb_spec (2 * p) r); lia).
  split; [split; [lia|split; [rewrite Q; lia|]]|].
  - intros [|n]; rewrite !Q; [lia|]. pose proof (C n). pose proof (C (S n)). pose proof (Cn (S n)).
    pose proof (Cn (S (S n))). lia.
  - destruct (le_lt_dec (2 * p) r) as [H|H]; [left|right]; intros [|n];
      unfold mirrored; rewrite !Q; [|pose proof (Cn (S n))| |pose proof (Cn (S n))].
    + assert (c 2%nat <= S (c 0%nat))%nat by (apply quotient_step; lia). lia.
    + assert (c (S (S (S n))) <= S (c (S n)))%nat by (apply quotient_step; lia). lia.
    + assert (2 <= c 2%nat)%nat by (apply Nat.div_le_lower_bound; lia). lia.
    + assert (1 <= c (S n))%nat by (apply Nat.div_le_lower_bound; lia).
      assert (S (c (S n)) <= c (S (S (S n))))%nat; [|lia].
      unfold c. rewrite <- Nat.add_1_r, <- Nat.div_add by lia. apply Nat.div_le_mono; lia.
Qed.

(* What dpfast counts D(i, j) by: removing the rows between the ranks, and then moving along one
   axis to an active gap. Removing all rows is another way. *)
Definition pair_distance (m : nat -> nat) (n i j : nat) : nat :=
  let V := (n + 1 - j)%nat in
  (j - i - 1 + fold_right Nat.min (i + V)
    (map (fun U => apart U V) (filter (fun U => active m i U) (seq 0 (2 * n + 1))) ++
     map (fun L => apart L i) (filter (fun L => active m L V) (seq 0 (2 * n + 1)))))%nat.

Lemma least_at_most : forall d l k, (fold_right Nat.min d l <= k)%nat <->
  (d <= k)%nat \/ exists a, In a l /\ (a <= k)%nat.
Proof.
  intros d l k. induction l as [|b l IH]; simpl; [firstorder|].
  rewrite Nat.min_le_iff, IH. split; [intros [H|[H|(a & Ha & H)]]; eauto|].
  intros [H|(a & [<-|Ha] & H)]; eauto.
Qed.

(* Moving along one axis is enough. *)
Lemma pair_distance_reachable : forall m n i j k, rank_rule m ->
  sparse m \/ sparse (mirrored m) -> (i < j <= n + 1)%nat ->
  reachable m n i j k <-> (pair_distance m n i j <= k)%nat.
Proof.
  intros m n i j k Hm Hs Hij. unfold reachable, pair_distance. set (V := (n + 1 - j)%nat).
  assert (Split : forall d, (j - i - 1 + d <= k <-> j - i - 1 <= k /\ d <= k - (j - i - 1))%nat)
    by lia.
  rewrite Split, least_at_most. split.
  - intros (L & U & HA & Hk).
    destruct (along_one_axis m i V L U Hm Hs HA) as (L' & U' & HA' & Haxis & Hd).
    split; [lia|]. destruct (le_lt_dec (i + V) (apart L' i + apart U' V)); [left; lia|right].
    exists (apart L' i + apart U' V)%nat. split; [|lia]. rewrite in_app_iff, !in_map_iff.
    unfold apart in *. destruct Haxis; subst; [left; exists U'|right; exists L'];
      rewrite filter_In, in_seq; repeat split; trivial; lia.
  - intros [H0 [H|(a & Ha & H)]].
    + exists 0%nat, 0%nat. split; [|unfold apart; lia]. destruct Hm as (M0 & M1 & _).
      apply (active_true m 0); simpl; lia.
    + rewrite in_app_iff, !in_map_iff in Ha. destruct Ha as [(u & <- & A)|(u & <- & A)];
        apply filter_In in A; destruct A as [_ A]; [exists i, u|exists u, V];
        (split; [exact A|unfold apart in *; lia]).
Qed.

(* The lower median *)

(* Makes lia know what a quotient is. *)
#[local] Ltac Zify.zify_post_hook ::= Z.to_euclidean_division_equations.

(* What dpfast computes: x_{floor((n + k) / 2) + 1} - x_{ceil((n - 1 - k) / 2)}. Ranks are clipped
   to 0 .. n + 1, and ceil((n - 1 - k) / 2) = floor((n - k) / 2). *)
Definition median_local (lo hi : R) (x : list R) (k : nat) : R :=
  order_statistic lo hi x ((length x + k) / 2 + 1) -
  order_statistic lo hi x ((length x - k) / 2).

Lemma order_clipped : forall lo hi x j,
  order_statistic lo hi x j = order_statistic lo hi x (Nat.min j (length x + 1)).
Proof.
  intros lo hi x j. destruct (le_lt_dec j (length x + 1)) as [H|H]; [now rewrite Nat.min_l|].
  rewrite Nat.min_r, !order_statistic_high; lia || reflexivity.
Qed.

Lemma median_rank : forall n, quantile_rank 1 2 n = ((n + 1) / 2)%nat.
Proof. intros [|n]; [reflexivity|]. unfold quantile_rank. lia. Qed.
Lemma median_rank_rule : rank_rule (quantile_rank 1 2).
Proof. split; [|split; [|intros n]]; rewrite ?median_rank; lia. Qed.

Lemma median_reachable : forall n i j k, (i < j <= n + 1)%nat ->
  reachable (quantile_rank 1 2) n i j k <-> (2 * j - n - 2 <= k /\ n - 2 * i - 1 <= k)%nat.
Proof.
  assert (Active : forall L U, active (quantile_rank 1 2) L U = true <-> (L <= U <= L + 1)%nat)
    by (intros L U; rewrite (active_true _ (L + U)), !median_rank by reflexivity; lia).
  intros n i j k Hij. unfold reachable, apart. split.
  - intros (L & U & HA & Hk). apply Active in HA. lia.
  - intros H. exists i, (Nat.max i (Nat.min (n + 1 - j) (i + 1))). rewrite Active. lia.
Qed.

Lemma median_change : forall lo hi x i k, lo <= hi -> table lo hi x -> (i <= k)%nat -> exists d,
  change_within (neighbors lo hi) (median lo hi) k x d /\ median_local lo hi x i <= d.
Proof.
  intros lo hi x i k Hlo T H. unfold median_local. rewrite (order_clipped _ _ x (_ + 1)).
  apply reachable_change; [exact Hlo|apply median_rank_rule|exact T|lia|].
  apply median_reachable; lia.
Qed.

Lemma change_median : forall lo hi x k d, lo <= hi -> table lo hi x ->
  change_within (neighbors lo hi) (median lo hi) k x d ->
  d <= median_local lo hi x (Nat.min k (length x + 1)).
Proof.
  intros lo hi x k d Hlo T H.
  destruct (change_reachable _ _ _ Hlo median_rank_rule k x d T H) as (i & j & Hij & Hr & Hd).
  apply median_reachable in Hr; [|exact Hij]. apply Rle_trans with (1 := Hd).
  apply Rplus_le_compat; [|apply Ropp_le_contravar]; apply order_increases; trivial; lia.
Qed.

(* Of dpfast/sensitivity/quantile.py: the local sensitivity of the lower median at distance k is
   exact, for any number of rows and any k. *)
Theorem median_local_exact : forall lo hi x k, lo <= hi -> table lo hi x ->
  is_maximum (median_local lo hi x k) (change_within (neighbors lo hi) (median lo hi) k x).
Proof.
  intros lo hi x k Hlo T. apply squeezed; [now apply median_change|]. intros d Hd.
  apply Rle_trans with (1 := change_median lo hi x k d Hlo T Hd).
  apply Rplus_le_compat; [|apply Ropp_le_contravar]; try (apply order_increases; trivial; lia).
Qed.

(* Of three rows: removing 2 leaves the median 1 of {1, 7}, and then removing 1 leaves 7. *)
Example median_local_of_three : table 0 10 [7; 1; 2] /\ median_local 0 10 [7; 1; 2] 1 = 6.
Proof.
  split; [repeat constructor; lra|]. unfold median_local, order_statistic. simpl.
  repeat (destruct Rle_dec; simpl; try lra).
Qed.

(* What dpfast computes: the greatest A(k) e^(-beta k) for k = 0 .. n + 1. *)
Definition median_smooth (lo hi beta : R) (x : list R) : R :=
  greatest (map (fun k => median_local lo hi x k * exp (- beta * INR k))
    (seq 0 (length x + 2))).

(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity of the lower median is exact. *)
Theorem median_smooth_exact : forall lo hi beta x, lo <= hi -> 0 <= beta -> table lo hi x ->
  is_maximum (median_smooth lo hi beta x)
    (change_weighted (neighbors lo hi) (median lo hi) beta x).
Proof.
  intros lo hi beta x Hlo Hbeta T. apply (gaps_exact _ _ _ _ nat _ _ (fun k => k)); trivial.
  - intros k. destruct (median_change lo hi x k k Hlo T (le_n k)) as (d & Hd & _). now exists d.
  - intros i k _. now apply median_change.
  - intros k d Hd. exists (Nat.min k (length x + 1)). rewrite in_seq.
    repeat split; try lia. now apply change_median.
Qed.

(* Of dpfast/sensitivity/quantile.py: noise may be calibrated to it, and to nothing smaller. *)
Theorem median_smooth_is_least_bound : forall lo hi beta, lo <= hi -> 0 <= beta ->
  smooth_bound (neighbors lo hi) (median lo hi) beta (median_smooth lo hi beta) /\
  forall bound, smooth_bound (neighbors lo hi) (median lo hi) beta bound ->
    forall x, table lo hi x -> median_smooth lo hi beta x <= bound x.
Proof. intros. apply least_bound; [|intros; apply median_smooth_exact]; trivial. Qed.

(* Any quantile *)

Definition pairs (n : nat) : list (nat * nat) :=
  filter (fun ij => fst ij <? snd ij)%nat (list_prod (seq 0 (n + 1)) (seq 0 (n + 2))).

(* The gap between two ranks, and their distance. *)
Definition gap (lo hi : R) (x : list R) (ij : nat * nat) : R :=
  order_statistic lo hi x (snd ij) - order_statistic lo hi x (fst ij).

Definition distance (p r n : nat) (ij : nat * nat) : nat :=
  pair_distance (quantile_rank p r) n (fst ij) (snd ij).

Lemma in_pairs : forall n ij, In ij (pairs n) <-> (fst ij < snd ij <= n + 1)%nat.
Proof.
  intros n [i j]. unfold pairs. rewrite filter_In, in_prod_iff, !in_seq, Nat.ltb_lt. simpl. lia.
Qed.

(* What dpfast computes: the greatest x_j - x_i of the pairs with D(i, j) <= k. *)
Definition quantile_local (lo hi : R) (p r : nat) (x : list R) (k : nat) : R :=
  greatest (map (gap lo hi x)
    (filter (fun ij => distance p r (length x) ij <=? k)%nat (pairs (length x)))).

(* The greatest (x_j - x_i) e^(-beta D(i, j)). *)
Definition quantile_smooth (lo hi : R) (p r : nat) (beta : R) (x : list R) : R :=
  greatest (map (fun ij => gap lo hi x ij * exp (- beta * INR (distance p r (length x) ij)))
    (pairs (length x))).

Lemma quantile_exact : forall lo hi p r x, lo <= hi -> (0 < r)%nat -> (p <= r)%nat ->
  table lo hi x ->
  (forall k, is_maximum (quantile_local lo hi p r x k)
    (change_within (neighbors lo hi) (quantile lo hi p r) k x)) /\
  forall beta, 0 <= beta -> is_maximum (quantile_smooth lo hi p r beta x)
    (change_weighted (neighbors lo hi) (quantile lo hi p r) beta x).
Proof.
  intros lo hi p r x Hlo Hr Hp T. destruct (quantile_rank_rule p r Hr Hp) as [Hm Hs].
  apply gaps_exact.
  - intros k. destruct (some_change lo hi Hlo (quantile lo hi p r) k x T) as (d & Hd & _). eauto.
  - intros ij k H Hk. apply in_pairs in H.
    apply reachable_change; trivial. now apply pair_distance_reachable.
  - intros k d Hd. destruct (change_reachable lo hi _ Hlo Hm k x d T Hd) as (i & j & H & Hr' & H').
    exists (i, j). rewrite in_pairs. repeat split; trivial; try apply H.
    now apply pair_distance_reachable.
Qed.

(* Of dpfast/sensitivity/quantile.py: the local sensitivity of any quantile at distance k is exact,
   for any number of rows and any k. *)
Theorem quantile_local_exact : forall lo hi p r x k, lo <= hi -> (0 < r)%nat -> (p <= r)%nat ->
  table lo hi x ->
  is_maximum (quantile_local lo hi p r x k)
    (change_within (neighbors lo hi) (quantile lo hi p r) k x).
Proof. intros. now apply quantile_exact. Qed.

(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity of any quantile is exact. *)
Theorem quantile_smooth_exact : forall lo hi p r beta x, lo <= hi -> (0 < r)%nat ->
  (p <= r)%nat -> 0 <= beta -> table lo hi x ->
  is_maximum (quantile_smooth lo hi p r beta x)
    (change_weighted (neighbors lo hi) (quantile lo hi p r) beta x).
Proof. intros. now apply quantile_exact. Qed.

(* Of dpfast/sensitivity/quantile.py: noise may be calibrated to it, and to nothing smaller. *)
Theorem quantile_smooth_is_least_bound : forall lo hi p r beta, lo <= hi -> (0 < r)%nat ->
  (p <= r)%nat -> 0 <= beta ->
  smooth_bound (neighbors lo hi) (quantile lo hi p r) beta (quantile_smooth lo hi p r beta) /\
  forall bound, smooth_bound (neighbors lo hi) (quantile lo hi p r) beta bound ->
    forall x, table lo hi x -> quantile_smooth lo hi p r beta x <= bound x.
Proof. intros. apply least_bound; [|intros; apply quantile_exact]; trivial. Qed.

(* The least number of rows, 1 or more, of which the quantile has rank L. *)
Definition start (p r L : nat) : nat := match L with 0%nat => 0 | S l => l * r / p + 1 end.

(* The ends of the active U at L, as dpfast computes them. *)
Definition first_active (p r L : nat) : nat :=
  match L with
  | 0%nat => 0
  | _ => (if 2 <=? start p r (L + 1) - start p r L then start p r L + 1 else start p r L) - L
  end.

Definition last_active (p r L : nat) : nat :=
  match L with
  | 0%nat => start p r 2 - 2
  | _ => Nat.max (start p r (L + 1)) (start p r (L + 2) - 2) - L
  end.

Lemma start_rank : forall p r n L, (0 < p <= r)%nat -> (1 <= n)%nat -> (1 <= L)%nat ->
  (L <= quantile_rank p r n <-> start p r L <= n)%nat.
Proof.
  intros p r [|n] [|l] Hp Hn HL; try lia. unfold quantile_rank, start. rewrite Nat.add_1_r.
  assert (Hc : ((p * S n + (r - 1)) / r <= S n)%nat)
    by (apply Nat.lt_succ_r, Nat.div_lt_upper_bound; nia).
  destruct (le_lt_dec (p * S n) (l * r)) as [H|H].
  - assert (S n <= l * r / p)%nat by (apply Nat.div_le_lower_bound; lia).
    assert ((p * S n + (r - 1)) / r < S l)%nat by (apply Nat.div_lt_upper_bound; lia).
    destruct l; [simpl in H; lia|lia].
  - assert (l * r / p < S n)%nat by (apply Nat.div_lt_upper_bound; lia).
    assert (S l <= (p * S n + (r - 1)) / r)%nat by (apply Nat.div_le_lower_bound; lia). lia.
Qed.

(* Of csrc/sensitivity/envelope_quantile.c: the active U at L are an interval with these ends. *)
Theorem active_is_interval : forall p r L U, (0 < p <= r)%nat ->
  active (quantile_rank p r) L U = true <-> (first_active p r L <= U <= last_active p r L)%nat.
Proof.
  intros p r L U Hp. rewrite (active_true _ (L + U)) by reflexivity.
  destruct (quantile_rank_rule p r ltac:(lia) ltac:(lia)) as [Rule _].
  pose proof (fun n => rank_bounds _ n Rule) as B. destruct Rule as (_ & M1 & _).
  assert (S1 : start p r 1 = 1%nat) by (unfold start; simpl; now rewrite Nat.div_0_l by lia).
  assert (M0 : (quantile_rank p r 0 = 0 /\ 3 <= start p r 2 \/
    quantile_rank p r 0 = 1 /\ start p r 2 = 2)%nat).
  { unfold quantile_rank, start. rewrite Nat.mul_1_l. destruct (Nat.leb_spec (2 * p) r).
    - left. assert (2 <= r / p)%nat by (apply Nat.div_le_lower_bound; lia). lia.
    - right. assert (1 <= r / p)%nat by (apply Nat.div_le_lower_bound; lia).
      assert (r / p < 2)%nat by (apply Nat.div_lt_upper_bound; lia). lia. }
  assert (E : forall n l, (1 <= n)%nat ->
    quantile_rank p r n = S l <-> (start p r (S l) <= n < start p r (S (S l)))%nat).
  { intros n l Hn. pose proof (start_rank p r n (S l) Hp Hn ltac:(lia)).
    pose proof (start_rank p r n (S (S l)) Hp Hn ltac:(lia)). lia. }
  assert (Rise : forall l, (start p r (S l) < start p r (S (S l)))%nat).
  { intros l. unfold start. assert (S (l * r / p) <= S l * r / p)%nat; [|lia].
    rewrite <- Nat.add_1_r, <- Nat.div_add by lia. apply Nat.div_le_mono; lia. }
  assert (Low : forall l, (S l <= start p r (S l))%nat)
    by (induction l as [|l IH]; [lia|specialize (Rise l); lia]).
  destruct L as [|L]; unfold first_active, last_active.
  - simpl (0 + U)%nat. rewrite (E (S U)) by lia. destruct U as [|[|U]]; simpl pred.
    + lia.
    + rewrite (E 1%nat) by lia. lia.
    + rewrite (E (S (S U))) by lia. pose proof (B (S (S U))). pose proof (B (S U)). lia.
  - rewrite !Nat.add_1_r. replace (S L + 2)%nat with (S (S (S L))) by lia.
    pose proof (Rise L). pose proof (Rise (S L)). pose proof (Low (S L)).
    rewrite !(E (S (S L + U))), !(E (S L + U)%nat) by lia.
    destruct (Nat.eq_dec (L + U) 0) as [E0|E0].
    + assert (L = 0 /\ U = 0)%nat as [-> ->] by lia. clear B E Rise Low. simpl pred.
      destruct (Nat.leb_spec 2 (start p r 2 - start p r 1)); lia.
    + rewrite (E (pred (S L + U))) by lia. clear B E Rise Low M0.
      destruct (Nat.leb_spec 2 (start p r (S (S L)) - start p r (S L))); lia.
Qed.
