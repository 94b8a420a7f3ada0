(* Local and smooth sensitivity of an order statistic when a row is replaced. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Dpfast Require Import order_statistics.
Import ListNotations.
Open Scope R_scope.

(* Tables of n rows are neighbors when they differ in one row at most. *)
Definition neighbors (x y : list R) : Prop := (hamming x y <= 1)%nat.

(* The greatest of a list of numbers, and of 0. *)
Definition greatest (l : list R) : R := fold_right Rmax 0 l.

Section Rank.
(* The public bounds, the number of rows, and the rank of the statistic. *)
Variables (lo hi : R) (n m : nat).

Definition table : list R -> Prop := is_table lo hi n.
Definition statistic (x : list R) : R := order_statistic lo hi x m.

(* By definition: how far the statistic of some table within distance k of x can be from that of a
   neighbor. *)
Definition change_within (x : list R) (k : nat) (d : R) : Prop :=
  exists y z, table y /\ table z /\ (hamming x y <= k)%nat /\ neighbors y z /\
    d = Rabs (statistic y - statistic z).

(* What dpfast computes: the greatest of x_{m+t} - x_{m+t-k-1} for 0 <= t <= k + 1. *)
Definition local_sensitivity (x : list R) (k : nat) : R :=
  greatest (map (fun t => order_statistic lo hi x (m + t) -
                          order_statistic lo hi x (m + t - k - 1)) (seq 0 (k + 2))).

(* By definition: the local sensitivity of some table y, times e^(-beta d(x, y)). *)
Definition change_weighted (beta : R) (x : list R) (s : R) : Prop :=
  exists y z, table y /\ table z /\ neighbors y z /\
    s = Rabs (statistic y - statistic z) * exp (- beta * INR (hamming x y)).

(* The pairs of ranks i <= m <= j with i < j. *)
Definition pairs : list (nat * nat) :=
  filter (fun ij => fst ij <? snd ij) (list_prod (seq 0 (m + 1)) (seq m (n + 2 - m))).

(* The value of a pair is (x_j - x_i) e^(-beta (j - i - 1)). *)
Definition pair_value (beta : R) (x : nat -> R) (i j : nat) : R :=
  (x j - x i) * exp (- beta * INR (j - i - 1)).

Definition greatest_pair (beta : R) (x : nat -> R) : R :=
  greatest (map (fun ij => pair_value beta x (fst ij) (snd ij)) pairs).

(* What dpfast computes: the greatest value of a pair. *)
Definition smooth_sensitivity (beta : R) (x : list R) : R :=
  greatest_pair beta (order_statistic lo hi x).

(* A beta-smooth upper bound on the local sensitivity of the statistic. *)
Definition smooth_bound (beta : R) (bound : list R -> R) : Prop :=
  forall x y, table x -> table y -> neighbors x y ->
    Rabs (statistic x - statistic y) <= bound x /\ bound x <= exp beta * bound y.
End Rank.

(* Greatest elements *)
Lemma greatest_nonnegative : forall l, 0 <= greatest l.
Proof. induction l as [|u l IH]; simpl; [lra|]. apply Rle_trans with (1 := IH), Rmax_r. Qed.
Lemma greatest_above : forall l u, In u l -> u <= greatest l.
Proof. induction l as [|v l IH]; simpl; intros u []; [subst; apply Rmax_l|].
  apply Rle_trans with (2 := Rmax_r _ _). auto. Qed.
Lemma greatest_below : forall l v, 0 <= v -> (forall u, In u l -> u <= v) -> greatest l <= v.
Proof. induction l as [|u l IH]; simpl; intros v Hv H; [exact Hv|]. apply Rmax_lub; auto. Qed.
Lemma greatest_in : forall (A : Type) (f : A -> R) l a, In a l -> 0 <= f a ->
  exists b, In b l /\ greatest (map f l) = f b.
Proof. intros A f l a Ha H0. destruct (Req_dec (greatest (map f l)) 0) as [E|E].
  - exists a. split; [exact Ha|].
    pose proof (greatest_above (map f l) (f a) (in_map f l a Ha)). lra.
  - clear a Ha H0. induction l as [|b l IH]; simpl in *; [lra|].
    revert E. apply Rmax_case; [exists b; auto|]. intros E. destruct (IH E) as (c & Hc & ->). eauto.
Qed.
Lemma in_pairs : forall n m i j, In (i, j) (pairs n m) <-> (i <= m <= j /\ i < j <= n + 1)%nat.
Proof. intros. unfold pairs. rewrite filter_In, in_prod_iff, !in_seq, Nat.ltb_lt. simpl. lia. Qed.
Lemma greatest_subset : forall l k, incl l k -> greatest l <= greatest k.
Proof. intros. apply greatest_below; auto using greatest_nonnegative, greatest_above. Qed.

(* Weights *)
Lemma weigh : forall u v a, u <= v -> u * exp a <= v * exp a.
Proof. intros. apply Rmult_le_compat_r; [left; apply exp_pos|assumption]. Qed.
Lemma weight_decreases : forall beta k l, 0 <= beta -> (k <= l)%nat ->
  exp (- beta * INR l) <= exp (- beta * INR k).
Proof. intros beta k l Hb H. apply le_INR in H.
  assert (- beta * INR l <= - beta * INR k) as [E|E] by nra; [left; now apply exp_increasing|].
  rewrite E. lra. Qed.
Lemma weight_next : forall beta k, exp (- beta * INR k) = exp beta * exp (- beta * INR (S k)).
Proof. intros. rewrite <- exp_plus, S_INR. f_equal. ring. Qed.
(* Shows that the value of one choice is at most the greatest. *)
Ltac among choice :=
  apply greatest_above, in_map_iff; exists choice; rewrite ?in_pairs, ?in_seq;
  split; [reflexivity|auto || lia].

Section Replace.
Variables (lo hi : R) (n m : nat).
Hypothesis limits : lo <= hi.
Hypothesis rank : (1 <= m <= n)%nat.

Notation x_ := (order_statistic lo hi).
Notation table := (table lo hi n).
Notation statistic := (statistic lo hi m).

(* A pair of ranks i <= m <= j with k other ranks or fewer between. *)
Definition within_reach (k i j : nat) : Prop :=
  (i <= m <= j /\ i < j <= n + 1 /\ j - i - 1 <= k)%nat.

Lemma increases : forall x i j, table x -> (i <= j)%nat -> x_ x i <= x_ x j.
Proof. intros. now apply (order_statistic_increases lo hi n). Qed.
Lemma bounded : forall x i, table x -> lo <= x_ x i <= hi.
Proof. intros. now apply (order_statistic_bounded lo hi n). Qed.
(* A gap [a, b] that no row of y is inside, with m - 1 or m rows below it, is covered by a pair of
   order statistics of every x within distance k. *)
Lemma gap_covered : forall x y k a b, table x -> table y -> (hamming x y <= k)%nat -> lo <= a ->
  a < b -> b <= hi -> (m - 1 <= count (at_most a) y <= m)%nat ->
  (count (at_most a) y + count (at_least b) y = n)%nat -> exists i j,
  within_reach k i j /\ b - a <= x_ x j - x_ x i.
Proof. intros x y k a b [Hx _] [Hy _] Hk Ha Hab Hb Hm Hn. unfold within_reach.
  assert (near : forall has, (count has y <= count has x + k)%nat).
  { intros has. pose proof (count_hamming has y x). rewrite hamming_symmetric in H. lia. }
  pose proof (near (at_most a)). pose proof (near (at_least b)).
  pose proof (count_hamming (inside a b) x y ltac:(congruence)). pose proof (count_parts a b x Hab).
  pose proof (count_parts a b y Hab). set (p := count (at_most a) x) in *.
  set (q := count (at_least b) x) in *. set (j := Nat.max m (n + 1 - q)). exists (j - k - 1)%nat, j.
  split; [lia|]. assert (b <= x_ x j).
  { destruct (le_lt_dec j n); [|rewrite order_statistic_high; lra || lia].
    apply order_statistic_at_least; fold q; lia. }
  assert (x_ x (j - k - 1) <= a); [|lra].
  destruct (Nat.eq_dec (j - k - 1) 0) as [E|E]; [now rewrite E|].
  apply order_statistic_at_most; fold p; lia. Qed.
(* When one row more or less moves the statistic over a gap, all rows are on its sides. *)
Lemma gap_counts : forall y z, table y -> table z -> neighbors y z -> statistic y < statistic z ->
  (count (at_most (statistic y)) y = m /\ count (at_least (statistic z)) y = n - m /\
   count (at_most (statistic y)) z = m - 1 /\ count (at_least (statistic z)) z = n + 1 - m)%nat.
Proof. intros y z [Ly _] [Lz _] Hyz H. unfold neighbors in Hyz.
  pose proof (count_at_most_order lo hi y m ltac:(lia)) as Ay.
  pose proof (count_at_least_order lo hi z m ltac:(lia)) as Cz. fold (statistic y) in *.
  fold (statistic z) in *. pose proof (count_apart _ _ y H). pose proof (count_apart _ _ z H).
  pose proof (count_hamming (at_most (statistic y)) y z ltac:(congruence)).
  pose proof (count_hamming (at_least (statistic z)) z y ltac:(congruence)) as N.
  rewrite hamming_symmetric in N. lia. Qed.
Lemma change_covered : forall x k d, table x -> change_within lo hi n m x k d ->
  exists i j, within_reach k i j /\ d <= x_ x j - x_ x i.
Proof. intros x k d Hx (y & z & Hy & Hz & Hk & Hyz & ->).
  pose proof (bounded y m Hy : lo <= statistic y <= hi) as By.
  pose proof (bounded z m Hz : lo <= statistic z <= hi) as Bz.
  destruct (Rtotal_order (statistic y) (statistic z)) as [H|[H|H]].
  - destruct (gap_counts y z Hy Hz Hyz H) as (A & B & _).
    rewrite Rabs_left1, Ropp_minus_distr by lra. apply (gap_covered x y k _ _ Hx Hy Hk); lra || lia.
  - exists (m - 1)%nat, m. unfold within_reach. split; [lia|].
    pose proof (increases x (m - 1) m Hx ltac:(lia)).
    rewrite H, Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - destruct (gap_counts z y Hz Hy) as (_ & _ & A & B); trivial.
    { unfold neighbors. now rewrite hamming_symmetric. }
    rewrite Rabs_right by lra. apply (gap_covered x y k _ _ Hx Hy Hk); lra || lia. Qed.
(* One row with some property can take any value. *)
Lemma replace_row : forall has x v, table x -> lo <= v <= hi -> (0 < count has x)%nat ->
  exists u y, has u = true /\ table y /\ (hamming x y <= 1)%nat /\
    forall what, (count what y + one (what u) = count what x + one (what v))%nat.
Proof. intros has x v [Hn Hx] Hv H. apply count_positive in H. destruct H as (l & u & r & -> & Hu).
  exists u, (l ++ v :: r). repeat split; auto using hamming_replaced.
  - rewrite app_length in *. simpl in *. lia.
  - rewrite Forall_app, Forall_cons_iff in *. tauto.
  - intros what. rewrite !count_app, !count_cons. lia. Qed.
(* Which side of a gap a value is on. *)
Ltac sides := intros *; unfold inside, at_most, at_least; repeat destruct (Rle_dec _ _); simpl;
  intros; discriminate || lra || lia.

(* Rows can be moved out of a gap, and over it, until r of them are below it. *)
Lemma gap_opened : forall a b r, lo <= a -> a < b -> b <= hi -> (r <= n)%nat -> forall d x,
  table x ->
  (n - count (at_most a) x - count (at_least b) x + (count (at_most a) x - r) +
   (count (at_least b) x - (n - r)) <= d)%nat ->
  exists y, table y /\ (hamming x y <= d)%nat /\
    count (at_most a) y = r /\ count (at_least b) y = (n - r)%nat.
Proof. intros a b r Ha Hab Hb Hr. induction d as [|d IH]; intros x Hx Hd;
  pose proof Hx as [Hl _]; pose proof (count_parts a b x Hab) as Hi.
  - exists x. rewrite hamming_same. repeat split; try apply Hx; lia.
  - assert (step : forall has v, lo <= v <= hi -> (0 < count has x)%nat ->
      (forall u p q, has u = true ->
        (p + one (at_most a u) = count (at_most a) x + one (at_most a v))%nat ->
        (q + one (at_least b u) = count (at_least b) x + one (at_least b v))%nat ->
        (n - p - q + (p - r) + (q - (n - r)) <= d)%nat) ->
      exists y, table y /\ (hamming x y <= S d)%nat /\
        count (at_most a) y = r /\ count (at_least b) y = (n - r)%nat).
    { intros has v Hv Hc Hs. destruct (replace_row has x v Hx Hv Hc) as (u & w & Hu & Hw & Hxw & E).
      destruct (IH w Hw) as (y & Hy & Hwy & Hyr); [apply (Hs u); auto|]. exists y.
      split; [exact Hy|]. split; [|exact Hyr].
      pose proof (hamming_triangle x w y). destruct Hw as [Hw _]. lia. }
    set (p := count (at_most a) x) in *. set (q := count (at_least b) x) in *.
    destruct (le_lt_dec n (p + q)) as [Hpq|Hpq]; [destruct (lt_eq_lt_dec p r) as [[H|H]|H]|
      destruct (le_lt_dec r p) as [H|H]].
    + apply (step (at_least b) a); fold q; lra || lia || sides.
    + exists x. rewrite hamming_same. fold p q. repeat split; try apply Hx; lia.
    + apply (step (at_most a) b); fold p; lra || lia || sides.
    + apply (step (inside a b) b); lra || lia || sides.
    + apply (step (inside a b) a); lra || lia || sides. Qed.
(* Every pair of ranks is a change of the statistic, once the rows between them are replaced. *)
Lemma pair_reached : forall x k i j, table x -> within_reach k i j ->
  exists y z, table y /\ table z /\ (hamming x y <= k)%nat /\ neighbors y z /\
    x_ x j - x_ x i <= Rabs (statistic y - statistic z).
Proof. intros x k i j Hx (Hm & Hj & Hk). pose proof Hx as [Hl _].
  destruct (Rle_lt_dec (x_ x j) (x_ x i)) as [H|Hab].
  { exists x, x. unfold neighbors. rewrite hamming_same.
    pose proof (Rabs_pos (statistic x - statistic x)). repeat split; try apply Hx; lra || lia. }
  pose proof (bounded x i Hx) as Ba. pose proof (bounded x j Hx) as Bb.
  pose proof (count_at_most_order lo hi x i ltac:(lia)) as Ci.
  pose proof (count_at_least_order lo hi x j ltac:(lia)) as Cj.
  pose proof (count_apart _ _ x Hab) as Hn.
  set (a := x_ x i) in *. set (b := x_ x j) in *. set (r := if j =? m then (m - 1)%nat else m).
  assert (Hr : (i <= r < j /\ m - 1 <= r <= m)%nat) by (unfold r; destruct (Nat.eqb_spec j m); lia).
  destruct (gap_opened a b r ltac:(lra) Hab ltac:(lra) ltac:(lia) k x Hx ltac:(lia))
    as (y & Hy & Hxy & Hya & Hyb). pose proof Hy as [Hly _].
  destruct (replace_row (if r =? m then at_most a else at_least b) y (if r =? m then b else a) Hy)
    as (u & z & Hu & Hz & Hyz & Q); [destruct (r =? m); lra|destruct (Nat.eqb_spec r m); lia|].
  exists y, z. repeat split; try apply Hy; try apply Hz; trivial. pose proof Hz as [Hlz _].
  unfold smooth_replace.statistic. destruct (Nat.eqb_spec r m) as [E|E].
  - assert (x_ y m <= a) by (apply order_statistic_at_most; lia).
    assert (b <= x_ z m); [|rewrite Rabs_left1; lra]. apply order_statistic_at_least; [lia|].
    specialize (Q (at_least b)). revert Hu Q. rewrite Hyb. generalize (count (at_least b) z). sides.
  - assert (b <= x_ y m) by (apply order_statistic_at_least; lia).
    assert (x_ z m <= a); [|rewrite Rabs_right; lra]. apply order_statistic_at_most; [lia|].
    specialize (Q (at_most a)). revert Hu Q. rewrite Hya. generalize (count (at_most a) z). sides.
Qed.
(* The pairs are the differences x_{m+t} - x_{m+t-k-1}, with ranks brought into 0 .. n + 1. *)
Lemma pair_below_local : forall x k i j, table x -> within_reach k i j ->
  x_ x j - x_ x i <= local_sensitivity lo hi m x k.
Proof. intros x k i j Hx (Hm & Hj & Hk).
  apply Rle_trans with (x_ x (m + (j - m)) - x_ x (m + (j - m) - k - 1)).
  - replace (m + (j - m))%nat with j by lia.
    pose proof (increases x (j - k - 1) i Hx ltac:(lia)). lra.
  - among (j - m)%nat. Qed.
Lemma local_attained : forall x k, table x -> exists i j, within_reach k i j /\
  local_sensitivity lo hi m x k = x_ x j - x_ x i.
Proof. intros x k Hx. unfold local_sensitivity.
  match goal with |- context [greatest (map ?f ?l)] => destruct (greatest_in _ f l 0%nat) as
    (t & Ht & ->); [apply in_seq; lia| |apply in_seq in Ht] end.
  { pose proof (increases x (m + 0 - k - 1) (m + 0) Hx ltac:(lia)). lra. }
  exists (m + t - k - 1)%nat, (Nat.min (m + t) (n + 1)). split; [unfold within_reach; lia|].
  destruct Hx as [Hx _]. destruct (Nat.min_spec (m + t) (n + 1)) as [[_ ->]|[H ->]]; [reflexivity|].
  now rewrite (order_statistic_high lo hi x (m + t)), (order_statistic_high lo hi x (n + 1)) by lia.
Qed.

Variable beta : R.
Hypothesis rate : 0 <= beta.
Notation smooth := (smooth_sensitivity lo hi n m beta).

Lemma pair_below : forall x i j k, table x -> within_reach k i j ->
  (x_ x j - x_ x i) * exp (- beta * INR k) <= smooth x.
Proof. intros x i j k Hx (Hm & Hij & Hk). apply Rle_trans with (pair_value beta (x_ x) i j).
  - apply Rmult_le_compat_l; [|now apply weight_decreases].
    pose proof (increases x i j Hx ltac:(lia)). lra.
  - among (i, j). Qed.
Lemma smooth_attained : forall x, table x -> exists i j, within_reach (j - i - 1) i j /\
  smooth x = pair_value beta (x_ x) i j.
Proof. intros x Hx. unfold smooth_sensitivity, greatest_pair.
  match goal with |- context [greatest (map ?f ?l)] =>
    destruct (greatest_in _ f l (m - 1, m)%nat) as ((i, j) & Hij & ->);
    [apply in_pairs; lia| |apply in_pairs in Hij] end.
  - apply Rmult_le_pos; [|left; apply exp_pos]. simpl.
    pose proof (increases x (m - 1) m Hx ltac:(lia)). lra.
  - exists i, j. now split; [unfold within_reach; lia|]. Qed.
Lemma smooth_exact : forall x, table x -> is_maximum (smooth x) (change_weighted lo hi n m beta x).
Proof. intros x Hx. apply squeezed.
  - destruct (smooth_attained x Hx) as (i & j & Hij & ->).
    destruct (pair_reached x _ i j Hx Hij) as (y & z & Hy & Hz & Hxy & Hyz & Hd).
    eexists. split; [now exists y, z|]. destruct Hij.
    apply Rmult_le_compat; [|left; apply exp_pos|exact Hd|now apply weight_decreases].
    pose proof (increases x i j Hx ltac:(lia)). lra.
  - intros s (y & z & Hy & Hz & Hyz & ->).
    destruct (change_covered x (hamming x y) (Rabs (statistic y - statistic z)) Hx)
      as (i & j & Hij & Hd); [now exists y, z|].
    apply Rle_trans with (2 := pair_below x i j _ Hx Hij). now apply weigh. Qed.
Lemma smooth_is_bound : smooth_bound lo hi n m beta smooth.
Proof.
  intros x y Hx Hy Hxy. destruct (smooth_exact x Hx) as [(v & w & Hv & Hw & Hvw & E) above]. split.
  - apply above. exists x, y. repeat (split; [assumption|]).
    rewrite hamming_same. simpl. rewrite Rmult_0_r, exp_0. ring.
  - rewrite E. pose proof (proj2 (smooth_exact y Hy) _ (ex_intro _ v (ex_intro _ w
      (conj Hv (conj Hw (conj Hvw eq_refl)))))) as B.
    assert (W : exp (- beta * INR (hamming x v)) <= exp beta * exp (- beta * INR (hamming y v))).
    { rewrite weight_next. apply Rmult_le_compat_l; [left; apply exp_pos|].
      apply weight_decreases; [exact rate|]. unfold neighbors in Hxy.
      pose proof (hamming_triangle y x v). rewrite (hamming_symmetric y x) in *.
      destruct Hx, Hy. assert (length y = length x) by congruence. lia. }
    apply Rmult_le_compat_l with (r := exp beta) in B; [|left; apply exp_pos].
    apply Rmult_le_compat_l with (r := Rabs (statistic v - statistic w)) in W; [|apply Rabs_pos].
    lra. Qed.
Lemma bound_spreads : forall bound, smooth_bound lo hi n m beta bound -> forall d x y,
  table x -> table y -> hamming x y = d -> bound y * exp (- beta * INR d) <= bound x.
Proof. intros bound H. induction d as [|d IH]; intros x y Hx Hy Hd.
  - simpl. rewrite Rmult_0_r, exp_0, Rmult_1_r. replace y with x; [lra|].
    destruct Hx as [Lx _], Hy as [Ly _]. apply hamming_zero; congruence.
  - destruct (hamming_between lo hi n x y d Hx Hy Hd) as (w & Hw & H1 & H2).
    specialize (IH w y Hw Hy H2). destruct (H w x Hw Hx) as [_ H3].
    { unfold neighbors. rewrite hamming_symmetric. lia. }
    rewrite weight_next in IH. apply Rmult_le_reg_l with (1 := exp_pos beta). nra. Qed.
End Replace.

(* Of dpfast/sensitivity/quantile.py: the local sensitivity at distance k, by definition the
   greatest change of the statistic between a table within distance k and a neighbor of that table,
   is the greatest of x_{m+t} - x_{m+t-k-1}. It is exact: no table changes more, and some does. *)
Theorem local_sensitivity_replace : forall lo hi n m x k, lo <= hi -> (1 <= m <= n)%nat ->
  is_table lo hi n x ->
  is_maximum (local_sensitivity lo hi m x k) (change_within lo hi n m x k).
Proof. intros lo hi n m x k Hlo Hm Hx. apply squeezed.
  - destruct (local_attained lo hi n m Hlo Hm x k Hx) as (i & j & Hij & ->).
    destruct (pair_reached lo hi n m Hlo Hm x k i j Hx Hij) as (y & z & Hy & Hz & Hxy & Hyz & Hd).
    eexists. split; [|exact Hd]. now exists y, z.
  - intros d H. destruct (change_covered lo hi n m Hlo Hm x k d Hx H) as (i & j & Hij & Hd).
    apply Rle_trans with (1 := Hd). now apply (pair_below_local lo hi n m). Qed.
(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity, by definition the greatest over all
   tables y of the local sensitivity of y times e^(-beta d(x, y)), is the greatest of
   (x_j - x_i) e^(-beta (j - i - 1)) over ranks i <= m <= j. *)
Theorem smooth_sensitivity_replace : forall lo hi n m beta x, lo <= hi -> (1 <= m <= n)%nat ->
  0 <= beta -> is_table lo hi n x ->
  is_maximum (smooth_sensitivity lo hi n m beta x) (change_weighted lo hi n m beta x).
Proof. intros. now apply smooth_exact. Qed.
(* Of dpfast/sensitivity/quantile.py: it is the greatest local sensitivity at a distance k, times
   e^(-beta k). *)
Theorem smooth_by_distance : forall lo hi n m beta x, lo <= hi -> (1 <= m <= n)%nat ->
  0 <= beta -> is_table lo hi n x ->
  is_maximum (smooth_sensitivity lo hi n m beta x)
    (fun s => exists k, s = local_sensitivity lo hi m x k * exp (- beta * INR k)).
Proof. intros lo hi n m beta x Hlo Hm Hb Hx. apply squeezed.
  - destruct (smooth_attained lo hi n m Hlo Hm beta x Hx) as (i & j & Hij & ->).
    eexists. split; [now exists (j - i - 1)%nat|]. now apply weigh, (pair_below_local lo hi n m).
  - intros s (k & ->). destruct (local_attained lo hi n m Hlo Hm x k Hx) as (i & j & Hij & ->).
    now apply pair_below. Qed.
(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity is an upper bound on the local
   sensitivity, between neighbors it grows by the factor e^beta at most, and no other function with
   these properties is smaller anywhere. *)
Theorem smooth_sensitivity_least : forall lo hi n m beta, lo <= hi -> (1 <= m <= n)%nat ->
  0 <= beta ->
  smooth_bound lo hi n m beta (smooth_sensitivity lo hi n m beta) /\
  forall bound, smooth_bound lo hi n m beta bound ->
    forall x, is_table lo hi n x -> smooth_sensitivity lo hi n m beta x <= bound x.
Proof. intros lo hi n m beta Hlo Hm Hb. split; [now apply smooth_is_bound|]. intros bound H x Hx.
  destruct (smooth_exact lo hi n m Hlo Hm beta Hb x Hx) as [(y & z & Hy & Hz & Hyz & ->) _].
  apply Rle_trans with (2 := bound_spreads lo hi n m Hm beta bound H _ x y Hx Hy eq_refl).
  now apply weigh, (H y z). Qed.
(* Of dpfast/sensitivity/quantile.py: what is computed is at least the smooth sensitivity and the
   public floor, and exceeds the larger of them by a factor of 1 + 2^-41 at most, not the same for
   all tables. So it is a (beta + 2^-41)-smooth bound. *)
Theorem rounded_bound_smooth : forall lo hi n m beta floor (computed : list R -> R),
  lo <= hi -> (1 <= m <= n)%nat -> 0 <= beta -> 0 <= floor ->
  (forall x, is_table lo hi n x ->
    Rmax (smooth_sensitivity lo hi n m beta x) floor <= computed x <=
    (1 + / 2 ^ 41) * Rmax (smooth_sensitivity lo hi n m beta x) floor) ->
  smooth_bound lo hi n m (beta + / 2 ^ 41) computed.
Proof. intros lo hi n m beta floor computed Hlo Hm Hb Hf H x y Hx Hy Hxy.
  destruct (smooth_is_bound lo hi n m Hlo Hm beta Hb x y Hx Hy Hxy) as [H1 H2].
  destruct (H x Hx) as [Lx Ux], (H y Hy) as [Ly Uy].
  set (eta := / 2 ^ 41) in *. assert (0 <= eta) by (left; apply Rinv_0_lt_compat, pow_lt; lra).
  set (s := smooth_sensitivity lo hi n m beta) in *.
  split; [apply Rle_trans with (1 := H1), Rle_trans with (2 := Lx), Rmax_l|].
  assert (grow : Rmax (s x) floor <= exp beta * Rmax (s y) floor).
  { pose proof (exp_ineq1_le beta). pose proof (Rmax_l (s y) floor).
    pose proof (Rmax_r (s y) floor). apply Rmax_lub; nra. }
  rewrite exp_plus. pose proof (exp_pos beta). pose proof (exp_ineq1_le eta).
  pose proof (Rmax_r (s y) floor). apply Rle_trans with ((1 + eta) * (exp beta * Rmax (s y) floor)).
  - apply Rle_trans with (1 := Ux), Rmult_le_compat_l; lra.
  - rewrite (Rmult_comm (exp beta) (exp eta)), Rmult_assoc. apply Rmult_le_compat; nra. Qed.

(* Three rows, of which the second smallest is asked for. *)
Example table_of_three : is_table 0 10 3 [5; 2; 9] /\
  order_statistic 0 10 [5; 2; 9] 2 = 5 /\
  local_sensitivity 0 10 2 [5; 2; 9] 0 = 4 /\ local_sensitivity 0 10 2 [5; 2; 9] 1 = 7.
Proof.
  split; [split; [reflexivity|repeat constructor; lra]|]. assert (E : sort [5; 2; 9] = [2; 5; 9]).
  { simpl. repeat (destruct (Rle_dec _ _); try lra; simpl). reflexivity. }
  unfold local_sensitivity, order_statistic. rewrite E. simpl. unfold Rmax.
  repeat destruct (Rle_dec _ _); lra. Qed.
