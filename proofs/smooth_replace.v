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
Proof.
  induction l as [|v l IH]; simpl; intros u []; [subst; apply Rmax_l|].
  apply Rle_trans with (2 := Rmax_r _ _). auto.
Qed.

Lemma greatest_below : forall l v, 0 <= v -> (forall u, In u l -> u <= v) -> greatest l <= v.
Proof. induction l as [|u l IH]; simpl; intros v Hv H; [exact Hv|]. apply Rmax_lub; auto. Qed.

Lemma greatest_in : forall l, (exists u, In u l /\ 0 <= u) -> In (greatest l) l.
Proof.
  intros l (u & Hu & H0). destruct (Req_dec (greatest l) 0) as [E|E].
  - assert (u = 0) by (apply Rle_antisym; [rewrite <- E; now apply greatest_above|exact H0]).
    rewrite E. congruence.
  - clear u Hu H0. induction l as [|v l IH]; simpl in *; [lra|].
    revert E. apply Rmax_case; [now left|]. intros E. right. auto.
Qed.

Lemma in_pairs : forall n m i j, In (i, j) (pairs n m) <-> (i <= m <= j /\ i < j <= n + 1)%nat.
Proof.
  intros. unfold pairs. rewrite filter_In, in_prod_iff, !in_seq. simpl. rewrite Nat.ltb_lt. lia.
Qed.

(* A gap's rows: those below, those above, and those inside. *)
Definition inside (a b u : R) : bool := negb (at_most a u || at_least b u).

Lemma count_parts : forall a b x, a < b ->
  (count (at_most a) x + count (at_least b) x + count (inside a b) x)%nat = length x.
Proof.
  intros a b x Hab. induction x as [|u x IH]; [reflexivity|]. rewrite !count_cons.
  simpl length. rewrite <- IH. unfold inside at 1, at_most at 1 3, at_least at 1 3.
  destruct (Rle_dec u a), (Rle_dec b u); simpl; lia || lra.
Qed.

Section Replace.

Variables (lo hi : R) (n m : nat).
Hypothesis limits : lo <= hi.
Hypothesis rank : (1 <= m <= n)%nat.

Notation x_ := (order_statistic lo hi).
Notation table := (table lo hi n).
Notation statistic := (statistic lo hi m).

(* A gap [a, b] that no row of y is inside, with r rows below it, m - 1 <= r <= m, is covered by
   one of the differences of order statistics of every x within distance k. *)
Lemma gap_covered : forall x y k a b, table x -> table y -> (hamming x y <= k)%nat ->
  lo <= a -> a < b -> b <= hi ->
  (m - 1 <= count (at_most a) y <= m)%nat ->
  (count (at_most a) y + count (at_least b) y = n)%nat ->
  exists t, (t <= k + 1)%nat /\ b - a <= x_ x (m + t) - x_ x (m + t - k - 1).
Proof.
  intros x y k a b [Hx Bx] [Hy By] Hk Ha Hab Hb Hm Hn.
  assert (Hlen : length x = length y) by congruence.
  assert (Hp : (count (at_most a) y <= count (at_most a) x + k)%nat).
  { pose proof (count_hamming (at_most a) y x). rewrite hamming_symmetric in H. lia. }
  assert (Hq : (count (at_least b) y <= count (at_least b) x + k)%nat).
  { pose proof (count_hamming (at_least b) y x). rewrite hamming_symmetric in H. lia. }
  assert (Hpq : (n <= count (at_most a) x + count (at_least b) x + k)%nat).
  { pose proof (count_hamming (inside a b) x y Hlen).
    pose proof (count_parts a b x Hab). pose proof (count_parts a b y Hab). lia. }
  set (p := count (at_most a) x) in *. set (q := count (at_least b) x) in *.
  set (j := Nat.max m (n + 1 - q)). exists (j - m)%nat.
  replace (m + (j - m))%nat with j by lia. split; [lia|].
  assert (Hj : b <= x_ x j).
  { destruct (le_lt_dec j n); [|rewrite order_statistic_high; lra || lia].
    apply order_statistic_at_least; fold q; lia. }
  assert (Hi : x_ x (j - k - 1) <= a).
  { destruct (Nat.eq_dec (j - k - 1) 0) as [E|E]; [now rewrite E|].
    apply order_statistic_at_most; fold p; pose proof (count_length _ (at_most a) x); lia. }
  lra.
Qed.

Lemma change_covered : forall x k d, table x -> change_within lo hi n m x k d ->
  exists t, (t <= k + 1)%nat /\ d <= x_ x (m + t) - x_ x (m + t - k - 1).
Proof.
  intros x k d Hx (y & z & Hy & Hz & Hk & Hyz & ->). unfold neighbors in Hyz.
  pose proof (order_statistic_bounded lo hi n y m limits Hy) as By.
  pose proof (order_statistic_bounded lo hi n z m limits Hz) as Bz.
  destruct Hy as [Ly Ty], Hz as [Lz Tz].
  assert (Hlen : length y = length z) by congruence.
  pose proof (count_at_most_order lo hi y m ltac:(lia)) as Ay.
  pose proof (count_at_most_order lo hi z m ltac:(lia)) as Az.
  pose proof (count_at_least_order lo hi y m ltac:(lia)) as Cy.
  pose proof (count_at_least_order lo hi z m ltac:(lia)) as Cz.
  unfold smooth_replace.statistic.
  set (v := x_ y m) in *. set (w := x_ z m) in *.
  destruct (Rtotal_order v w) as [H|[H|H]].
  - rewrite Rabs_left1 by lra. replace (- (v - w)) with (w - v) by ring.
    assert (count (at_most v) z < m)%nat.
    { apply not_le. intros E. apply (order_statistic_at_most lo hi) in E; [fold w in E; lra|lia]. }
    pose proof (count_hamming (at_most v) y z Hlen). pose proof (count_apart v w y H).
    pose proof (count_hamming (at_least w) z y ltac:(congruence)) as E.
    rewrite hamming_symmetric in E.
    apply (gap_covered x y k v w Hx (conj Ly Ty) Hk); lra || lia.
  - exists 0%nat. split; [lia|]. rewrite H. unfold Rminus at 1. rewrite Rplus_opp_r, Rabs_R0.
    assert (x_ x (m + 0 - k - 1) <= x_ x (m + 0)); [|lra].
    apply (order_statistic_increases lo hi n); auto. lia.
  - rewrite Rabs_right by lra.
    assert (count (at_most w) y < m)%nat.
    { apply not_le. intros E. apply (order_statistic_at_most lo hi) in E; [fold v in E; lra|lia]. }
    pose proof (count_apart w v y H).
    pose proof (count_hamming (at_most w) z y ltac:(congruence)) as E.
    rewrite hamming_symmetric in E.
    apply (gap_covered x y k w v Hx (conj Ly Ty) Hk); lra || lia.
Qed.

(* One row with some property can take any value. *)
Lemma replace_row : forall has x v, table x -> lo <= v <= hi -> (0 < count has x)%nat ->
  exists u y, has u = true /\ table y /\ (hamming x y <= 1)%nat /\
    forall what, (count what y + one (what u) = count what x + one (what v))%nat.
Proof.
  intros has x v [Hn Hx] Hv H. apply count_positive in H. destruct H as (l & u & r & -> & Hu).
  exists u, (l ++ v :: r). repeat split; auto using hamming_replaced.
  - rewrite app_length in *. simpl in *. lia.
  - apply Forall_app in Hx. destruct Hx as [Hl Hr]. apply Forall_cons_iff in Hr.
    apply Forall_app. split; [exact Hl|]. now constructor.
  - intros what. rewrite !count_app, !count_cons. lia.
Qed.

(* Rows can be moved out of a gap, and over it, until r of them are below it. *)
Lemma gap_opened : forall a b r, lo <= a -> a < b -> b <= hi -> (r <= n)%nat -> forall d x,
  table x ->
  (n - count (at_most a) x - count (at_least b) x + (count (at_most a) x - r) +
   (count (at_least b) x - (n - r)) <= d)%nat ->
  exists y, table y /\ (hamming x y <= d)%nat /\
    count (at_most a) y = r /\ count (at_least b) y = (n - r)%nat.
Proof.
  intros a b r Ha Hab Hb Hr. induction d as [|d IH]; intros x Hx Hd.
  - pose proof (count_apart a b x Hab). assert (length x = n) by apply Hx.
    exists x. rewrite hamming_same. repeat split; try apply Hx; lia.
  - pose proof (count_apart a b x Hab) as Hn. assert (Hl : length x = n) by apply Hx.
    assert (step : forall has v,
      lo <= v <= hi -> (0 < count has x)%nat ->
      (forall u, has u = true -> forall p q,
        (p + one (at_most a u) = count (at_most a) x + one (at_most a v))%nat ->
        (q + one (at_least b u) = count (at_least b) x + one (at_least b v))%nat ->
        (n - p - q + (p - r) + (q - (n - r)) <= d)%nat) ->
      exists y, table y /\ (hamming x y <= S d)%nat /\
        count (at_most a) y = r /\ count (at_least b) y = (n - r)%nat).
    { intros has v Hv Hc Hs. destruct (replace_row has x v Hx Hv Hc) as (u & w & Hu & Hw & Hxw & E).
      destruct (IH w Hw) as (y & Hy & Hwy & Hyr).
      { apply (Hs u Hu); apply E. }
      exists y. repeat split; try apply Hyr; try apply Hy.
      pose proof (hamming_triangle x w y). destruct Hw as [Hw _]. lia. }
    pose proof (count_parts a b x Hab) as Hi. rewrite Hl in Hi.
    assert (Eaa : at_most a a = true) by (apply at_most_true; lra).
    assert (Ebb : at_least b b = true) by (apply at_least_true; lra).
    assert (Eab : at_most a b = false) by (unfold at_most; destruct (Rle_dec b a); lra || easy).
    assert (Eba : at_least b a = false) by (unfold at_least; destruct (Rle_dec b a); lra || easy).
    assert (one_side : forall u, at_most a u = true -> at_least b u = true -> False).
    { intros u Hu Hu'. apply at_most_true in Hu. apply at_least_true in Hu'. lra. }
    set (p := count (at_most a) x) in *. set (q := count (at_least b) x) in *.
    destruct (le_lt_dec n (p + q)) as [Hpq|Hpq]; [destruct (lt_eq_lt_dec p r) as [[H|H]|H]|].
    + apply (step (at_least b) a); [lra|fold q; lia|]. intros u Hu p' q'. rewrite Eaa, Eba, Hu.
      destruct (at_most a u) eqn:E; [now destruct (one_side u)|]. simpl. lia.
    + exists x. rewrite hamming_same. fold p q. repeat split; try apply Hx; lia.
    + apply (step (at_most a) b); [lra|fold p; lia|]. intros u Hu p' q'. rewrite Ebb, Eab, Hu.
      destruct (at_least b u) eqn:E; [now destruct (one_side u)|]. simpl. lia.
    + apply (step (inside a b) (if p <? r then a else b)); [destruct (p <? r); lra|lia|].
      intros u Hu p' q'. unfold inside in Hu. destruct (at_most a u), (at_least b u); try easy.
      destruct (Nat.ltb_spec p r); rewrite ?Eaa, ?Ebb, ?Eab, ?Eba; simpl; lia.
Qed.

(* Every pair of ranks i <= m <= j is a change of the statistic once j - i - 1 rows are replaced. *)
Lemma pair_reached : forall x i j, table x -> (i <= m <= j)%nat -> (i < j <= n + 1)%nat ->
  x_ x i < x_ x j ->
  exists y z, table y /\ table z /\ (hamming x y <= j - i - 1)%nat /\ neighbors y z /\
    x_ x j - x_ x i <= Rabs (statistic y - statistic z).
Proof.
  intros x i j Hx Hm Hj Hab. assert (Hl : length x = n) by apply Hx.
  pose proof (order_statistic_bounded lo hi n x i limits Hx) as Ba.
  pose proof (order_statistic_bounded lo hi n x j limits Hx) as Bb.
  pose proof (count_at_most_order lo hi x i ltac:(lia)) as Ci.
  pose proof (count_at_least_order lo hi x j ltac:(lia)) as Cj.
  pose proof (count_apart _ _ x Hab) as Hn.
  set (a := x_ x i) in *. set (b := x_ x j) in *.
  set (r := if j =? m then (m - 1)%nat else m).
  assert (Hr : (i <= r < j /\ m - 1 <= r <= m)%nat).
  { unfold r. destruct (Nat.eqb_spec j m); lia. }
  destruct (gap_opened a b r ltac:(lra) Hab ltac:(lra) ltac:(lia) (j - i - 1) x Hx ltac:(lia))
    as (y & Hy & Hxy & Hya & Hyb).
  assert (Hly : length y = n) by apply Hy.
  assert (low : forall z, table z -> (m <= count (at_most a) z)%nat -> statistic z <= a).
  { intros z [Hz _] H. apply order_statistic_at_most; [lia|exact H]. }
  assert (high : forall z, table z -> (n < m + count (at_least b) z)%nat -> b <= statistic z).
  { intros z [Hz _] H. apply order_statistic_at_least; [lia|lia]. }
  destruct (Nat.eq_dec r m) as [E|E].
  - destruct (replace_row (at_most a) y b Hy ltac:(lra) ltac:(lia)) as (u & z & Hu & Hz & Hyz & Q).
    exists y, z. repeat split; try apply Hy; try apply Hz; trivial.
    specialize (Q (at_least b)). specialize (low y Hy ltac:(lia)).
    assert (b <= statistic z); [|rewrite Rabs_left1; lra].
    apply (high z Hz). apply at_most_true in Hu. revert Q. unfold at_least at 2 4.
    destruct (Rle_dec b u), (Rle_dec b b); simpl; lia || lra.
  - destruct (replace_row (at_least b) y a Hy ltac:(lra) ltac:(lia)) as (u & z & Hu & Hz & Hyz & Q).
    exists y, z. repeat split; try apply Hy; try apply Hz; trivial.
    specialize (Q (at_most a)). specialize (high y Hy ltac:(lia)).
    assert (statistic z <= a); [|rewrite Rabs_right; lra].
    apply (low z Hz). apply at_least_true in Hu. revert Q. unfold at_most at 2 4.
    destruct (Rle_dec u a), (Rle_dec a a); simpl; lia || lra.
Qed.

Lemma change_below : forall x k d, table x -> change_within lo hi n m x k d ->
  d <= local_sensitivity lo hi m x k.
Proof.
  intros x k d Hx H. destruct (change_covered x k d Hx H) as (t & Ht & Hd).
  apply Rle_trans with (1 := Hd). apply greatest_above. apply in_map_iff. exists t.
  split; [reflexivity|]. apply in_seq. lia.
Qed.

Lemma local_attained : forall x k, table x ->
  exists t, (t <= k + 1)%nat /\
    local_sensitivity lo hi m x k = x_ x (m + t) - x_ x (m + t - k - 1).
Proof.
  intros x k Hx. assert (H : In (local_sensitivity lo hi m x k) (map (fun t => x_ x (m + t) -
    x_ x (m + t - k - 1)) (seq 0 (k + 2)))).
  { apply greatest_in. exists (x_ x (m + 0) - x_ x (m + 0 - k - 1)). split.
    - apply in_map_iff. exists 0%nat. split; [reflexivity|]. apply in_seq. lia.
    - assert (x_ x (m + 0 - k - 1) <= x_ x (m + 0)); [|lra].
      apply (order_statistic_increases lo hi n); auto. lia. }
  apply in_map_iff in H. destruct H as (t & H & Ht). apply in_seq in Ht. exists t.
  now split; [lia|].
Qed.

(* The ranks m + t - k - 1 and m + t, brought into 0 .. n + 1. *)
Lemma clip_pair : forall x k t, table x -> (t <= k + 1)%nat ->
  exists i j, (i <= m <= j)%nat /\ (i < j <= n + 1)%nat /\ (j - i - 1 <= k)%nat /\
    x_ x (m + t) - x_ x (m + t - k - 1) = x_ x j - x_ x i.
Proof.
  intros x k t [Hx _] Ht. exists (m + t - k - 1)%nat, (Nat.min (m + t) (n + 1)).
  repeat split; try lia. destruct (Nat.min_spec (m + t) (n + 1)) as [[_ ->]|[H ->]]; [reflexivity|].
  rewrite (order_statistic_high lo hi x (m + t)) by lia.
  rewrite (order_statistic_high lo hi x (n + 1)) by lia. reflexivity.
Qed.

Lemma change_none : forall x, table x -> neighbors x x /\ Rabs (statistic x - statistic x) = 0.
Proof.
  intros x Hx. unfold neighbors. rewrite hamming_same. split; [lia|].
  now rewrite Rminus_diag_eq, Rabs_R0.
Qed.

Lemma local_sensitivity_exact : forall x k, table x ->
  is_maximum (local_sensitivity lo hi m x k) (change_within lo hi n m x k).
Proof.
  intros x k Hx. split; [|intros d; now apply change_below].
  destruct (local_attained x k Hx) as (t & Ht & E).
  destruct (clip_pair x k t Hx Ht) as (i & j & Hm & Hij & Hk & E'). rewrite E' in E.
  destruct (Rle_lt_dec (x_ x j) (x_ x i)) as [H|H].
  - exists x, x. destruct (change_none x Hx) as [Hn H0]. rewrite H0, hamming_same.
    repeat split; try apply Hx; trivial; [lia|]. pose proof (greatest_nonnegative (map (fun t =>
      x_ x (m + t) - x_ x (m + t - k - 1)) (seq 0 (k + 2)))) as G.
    fold (local_sensitivity lo hi m x k) in G. lra.
  - destruct (pair_reached x i j Hx Hm Hij H) as (y & z & Hy & Hz & Hxy & Hyz & Hd).
    assert (W : change_within lo hi n m x k (Rabs (statistic y - statistic z))).
    { exists y, z. repeat split; try apply Hy; try apply Hz; trivial. lia. }
    replace (local_sensitivity lo hi m x k) with (Rabs (statistic y - statistic z)); [exact W|].
    pose proof (change_below x k _ Hx W). lra.
Qed.

(* Weights *)

Lemma weight_positive : forall beta k, 0 < exp (- beta * INR k).
Proof. intros. apply exp_pos. Qed.

Lemma weight_decreases : forall beta k l, 0 <= beta -> (k <= l)%nat ->
  exp (- beta * INR l) <= exp (- beta * INR k).
Proof.
  intros beta k l Hb H. apply le_INR in H.
  assert (- beta * INR l <= - beta * INR k) as [E|E] by nra.
  - left. now apply exp_increasing.
  - rewrite E. lra.
Qed.

Lemma weight_next : forall beta k, exp (- beta * INR k) = exp beta * exp (- beta * INR (S k)).
Proof. intros. rewrite <- exp_plus, S_INR. f_equal. ring. Qed.

Variable beta : R.
Hypothesis rate : 0 <= beta.
Notation smooth := (smooth_sensitivity lo hi n m beta).

Lemma pair_below : forall x i j k, table x -> (i <= m <= j)%nat -> (i < j <= n + 1)%nat ->
  (j - i - 1 <= k)%nat -> (x_ x j - x_ x i) * exp (- beta * INR k) <= smooth x.
Proof.
  intros x i j k Hx Hm Hij Hk. apply Rle_trans with (pair_value beta (x_ x) i j).
  - apply Rmult_le_compat_l; [|now apply weight_decreases].
    assert (x_ x i <= x_ x j); [|lra]. apply (order_statistic_increases lo hi n); auto. lia.
  - apply greatest_above, in_map_iff. exists (i, j). rewrite in_pairs. auto.
Qed.

Lemma smooth_attained : forall x, table x -> exists i j, (i <= m <= j)%nat /\
  (i < j <= n + 1)%nat /\ smooth x = pair_value beta (x_ x) i j.
Proof.
  intros x Hx. assert (H : In (smooth x) (map (fun ij => pair_value beta (x_ x) (fst ij) (snd ij))
    (pairs n m))).
  { apply greatest_in. exists (pair_value beta (x_ x) (m - 1) m). split.
    - apply in_map_iff. exists (m - 1, m)%nat. rewrite in_pairs. split; [reflexivity|lia].
    - apply Rmult_le_pos; [|left; apply weight_positive]. assert (x_ x (m - 1) <= x_ x m); [|lra].
      apply (order_statistic_increases lo hi n); auto. lia. }
  apply in_map_iff in H. destruct H as ((i, j) & H & Hij). apply in_pairs in Hij.
  exists i, j. now repeat split.
Qed.

Lemma change_weighted_below : forall x s, table x -> change_weighted lo hi n m beta x s ->
  s <= smooth x.
Proof.
  intros x s Hx (y & z & Hy & Hz & Hyz & ->).
  destruct (change_covered x (hamming x y) (Rabs (statistic y - statistic z)) Hx)
    as (t & Ht & Hd); [now exists y, z|].
  destruct (clip_pair x _ t Hx Ht) as (i & j & Hm & Hij & Hk & E). rewrite E in Hd.
  apply Rle_trans with (2 := pair_below x i j _ Hx Hm Hij Hk).
  apply Rmult_le_compat_r; [left; apply weight_positive|exact Hd].
Qed.

Lemma smooth_exact : forall x, table x ->
  is_maximum (smooth x) (change_weighted lo hi n m beta x).
Proof.
  intros x Hx. split; [|intros s; now apply change_weighted_below].
  destruct (smooth_attained x Hx) as (i & j & Hm & Hij & E).
  destruct (Rle_lt_dec (x_ x j) (x_ x i)) as [H|H].
  - exists x, x. destruct (change_none x Hx) as [Hn H0]. rewrite H0.
    repeat split; try apply Hx; trivial. rewrite Rmult_0_l. apply Rle_antisym.
    + rewrite E. unfold pair_value. pose proof (weight_positive beta (j - i - 1)). nra.
    + apply greatest_nonnegative.
  - destruct (pair_reached x i j Hx Hm Hij H) as (y & z & Hy & Hz & Hxy & Hyz & Hd).
    exists y, z. repeat split; try apply Hy; try apply Hz; trivial. apply Rle_antisym.
    + rewrite E. unfold pair_value. apply Rmult_le_compat.
      * lra.
      * left; apply weight_positive.
      * exact Hd.
      * now apply weight_decreases.
    + apply change_weighted_below; [exact Hx|]. now exists y, z.
Qed.

Lemma smooth_by_distance : forall x, table x ->
  is_maximum (smooth x)
    (fun s => exists k, s = local_sensitivity lo hi m x k * exp (- beta * INR k)).
Proof.
  intros x Hx. assert (above : forall k,
    local_sensitivity lo hi m x k * exp (- beta * INR k) <= smooth x).
  { intros k. destruct (local_attained x k Hx) as (t & Ht & ->).
    destruct (clip_pair x k t Hx Ht) as (i & j & Hm & Hij & Hk & ->). now apply pair_below. }
  split; [|intros s (k & ->); apply above].
  destruct (smooth_attained x Hx) as (i & j & Hm & Hij & E). exists (j - i - 1)%nat.
  apply Rle_antisym; [|apply above]. rewrite E. apply Rmult_le_compat_r;
  [left; apply weight_positive|]. apply greatest_above, in_map_iff. exists (j - m)%nat.
  rewrite in_seq. split; [|lia]. f_equal; [|f_equal]; f_equal; lia.
Qed.

Lemma smooth_is_bound : smooth_bound lo hi n m beta smooth.
Proof.
  intros x y Hx Hy Hxy. split.
  - apply change_weighted_below; [exact Hx|]. exists x, y. repeat split; try apply Hx;
    try apply Hy; trivial. rewrite hamming_same. simpl. rewrite Rmult_0_r, exp_0. ring.
  - destruct (smooth_exact x Hx) as [(v & w & Hv & Hw & Hvw & ->) _].
    apply Rle_trans with (exp beta * (Rabs (statistic v - statistic w) *
      exp (- beta * INR (hamming y v)))).
    + rewrite <- Rmult_assoc, (Rmult_comm (exp beta)), Rmult_assoc.
      apply Rmult_le_compat_l; [apply Rabs_pos|].
      apply Rle_trans with (exp beta * exp (- beta * INR (S (hamming x v)))).
      * rewrite <- weight_next. lra.
      * apply Rmult_le_compat_l; [left; apply exp_pos|]. apply weight_decreases; [exact rate|].
        pose proof (hamming_triangle y x v) as T. rewrite (hamming_symmetric y x) in T.
        unfold neighbors in Hxy. destruct Hx, Hy. assert (length y = length x) by congruence. lia.
    + apply Rmult_le_compat_l; [left; apply exp_pos|].
      apply change_weighted_below; [exact Hy|]. now exists v, w.
Qed.

Lemma bound_spreads : forall bound, smooth_bound lo hi n m beta bound -> forall d x y,
  table x -> table y -> hamming x y = d -> bound y * exp (- beta * INR d) <= bound x.
Proof.
  intros bound H. induction d as [|d IH]; intros x y Hx Hy Hd.
  - simpl. rewrite Rmult_0_r, exp_0, Rmult_1_r.
    replace y with x; [lra|]. clear H. destruct Hx as [Lx _], Hy as [Ly _]. subst n.
    revert y Ly Hd. clear. induction x as [|u x IH]; intros [|v y] L Hd; try discriminate; trivial.
    rewrite hamming_cons in Hd. destruct (different (u, v)) eqn:E; [discriminate|].
    apply different_false in E. subst v. f_equal. apply IH; [now injection L|exact Hd].
  - destruct (hamming_between lo hi n x y d Hx Hy Hd) as (w & Hw & H1 & H2).
    specialize (IH w y Hw Hy H2). destruct (H w x Hw Hx) as [_ H3].
    { unfold neighbors. rewrite hamming_symmetric. lia. }
    rewrite weight_next in IH. pose proof (exp_pos beta) as E.
    apply Rmult_le_reg_l with (1 := E). nra.
Qed.

Lemma smooth_least : forall bound, smooth_bound lo hi n m beta bound -> forall x, table x ->
  smooth x <= bound x.
Proof.
  intros bound H x Hx. destruct (smooth_exact x Hx) as [(y & z & Hy & Hz & Hyz & ->) _].
  apply Rle_trans with (2 := bound_spreads bound H _ x y Hx Hy eq_refl).
  apply Rmult_le_compat_r; [left; apply weight_positive|]. now apply (H y z).
Qed.

End Replace.

(* Of dpfast/sensitivity/quantile.py: the local sensitivity at distance k, by definition the
   greatest change of the statistic between a table within distance k and a neighbor of that table,
   is the greatest of x_{m+t} - x_{m+t-k-1}. It is exact: no table changes more, and some does. *)
Theorem local_sensitivity_replace : forall lo hi n m x k, lo <= hi -> (1 <= m <= n)%nat ->
  is_table lo hi n x ->
  is_maximum (local_sensitivity lo hi m x k) (change_within lo hi n m x k).
Proof. intros. now apply local_sensitivity_exact. Qed.

(* Of csrc/sensitivity/envelope.c: the loop over lower ranks i from m - k - 1 to m, each with the
   upper rank i + k + 1, ranks being clipped to 0 .. n + 1, returns the local sensitivity. *)
Theorem local_loop_replace : forall lo hi n m x k, lo <= hi -> (1 <= m <= n)%nat ->
  is_table lo hi n x ->
  greatest (map (fun i => order_statistic lo hi x (Nat.min (i + k + 1) (n + 1)) -
                          order_statistic lo hi x i)
                (seq (m - k - 1) (m + 1 - (m - k - 1)))) =
  local_sensitivity lo hi m x k.
Proof.
  intros lo hi n m x k Hlo Hm Hx.
  assert (top : forall j, (n + 1 <= j)%nat -> order_statistic lo hi x j = hi).
  { intros j Hj. destruct Hx as [Hx _]. apply order_statistic_high. lia. }
  apply Rle_antisym; (apply greatest_below; [apply greatest_nonnegative|]);
  intros u Hu; apply in_map_iff in Hu; destruct Hu as (t & <- & Ht); apply in_seq in Ht.
  - apply greatest_above, in_map_iff. exists (t + k + 1 - m)%nat. rewrite in_seq. split; [|lia].
    replace (m + (t + k + 1 - m))%nat with (t + k + 1)%nat by lia.
    f_equal; [|f_equal; f_equal; lia]. destruct (le_lt_dec (n + 1) (t + k + 1)) as [H|H];
    [rewrite Nat.min_r, !top by lia; reflexivity|now rewrite Nat.min_l by lia].
  - apply Rle_trans with (order_statistic lo hi x (Nat.min (m + t - k - 1 + k + 1) (n + 1)) -
      order_statistic lo hi x (m + t - k - 1)).
    + apply Rplus_le_compat_r. destruct (le_lt_dec (m + t) (n + 1)) as [H|H].
      * apply (order_statistic_increases lo hi n); auto. lia.
      * rewrite Nat.min_r, !top by lia. lra.
    + apply greatest_above, in_map_iff. exists (m + t - k - 1)%nat. rewrite in_seq.
      split; [reflexivity|lia].
Qed.

(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity, by definition the greatest over all
   tables y of the local sensitivity of y times e^(-beta d(x, y)), is the greatest of
   (x_j - x_i) e^(-beta (j - i - 1)) over ranks i <= m <= j. *)
Theorem smooth_sensitivity_replace : forall lo hi n m beta x, lo <= hi -> (1 <= m <= n)%nat ->
  0 <= beta -> is_table lo hi n x ->
  is_maximum (smooth_sensitivity lo hi n m beta x) (change_weighted lo hi n m beta x).
Proof. intros. now apply smooth_exact. Qed.

(* Of dpfast/sensitivity/quantile.py: it is the greatest local sensitivity at a distance k, times
   e^(-beta k). *)
Theorem smooth_by_distances : forall lo hi n m beta x, lo <= hi -> (1 <= m <= n)%nat ->
  0 <= beta -> is_table lo hi n x ->
  is_maximum (smooth_sensitivity lo hi n m beta x)
    (fun s => exists k, s = local_sensitivity lo hi m x k * exp (- beta * INR k)).
Proof. intros. now apply smooth_by_distance. Qed.

(* Of dpfast/sensitivity/quantile.py: the smooth sensitivity is an upper bound on the local
   sensitivity, between neighbors it grows by the factor e^beta at most, and no other function with
   these properties is smaller anywhere. *)
Theorem smooth_sensitivity_least : forall lo hi n m beta, lo <= hi -> (1 <= m <= n)%nat ->
  0 <= beta ->
  smooth_bound lo hi n m beta (smooth_sensitivity lo hi n m beta) /\
  forall bound, smooth_bound lo hi n m beta bound ->
    forall x, is_table lo hi n x -> smooth_sensitivity lo hi n m beta x <= bound x.
Proof. intros. split; [now apply smooth_is_bound|]. intros. now apply smooth_least. Qed.

(* Of dpfast/sensitivity/quantile.py: what is computed is at least the smooth sensitivity and the
   public floor, and exceeds the larger of them by a factor of 1 + 2^-41 at most, not the same for
   all tables. So it is a (beta + 2^-41)-smooth bound. *)
Theorem rounded_bound_smooth : forall lo hi n m beta floor (computed : list R -> R),
  lo <= hi -> (1 <= m <= n)%nat -> 0 <= beta -> 0 <= floor ->
  (forall x, is_table lo hi n x ->
    Rmax (smooth_sensitivity lo hi n m beta x) floor <= computed x <=
    (1 + / 2 ^ 41) * Rmax (smooth_sensitivity lo hi n m beta x) floor) ->
  smooth_bound lo hi n m (beta + / 2 ^ 41) computed.
Proof.
  intros lo hi n m beta floor computed Hlo Hm Hb Hf H x y Hx Hy Hxy.
  destruct (smooth_is_bound lo hi n m Hlo Hm beta Hb x y Hx Hy Hxy) as [H1 H2].
  destruct (H x Hx) as [Lx Ux], (H y Hy) as [Ly Uy].
  set (eta := / 2 ^ 41) in *. assert (0 <= eta) by (left; apply Rinv_0_lt_compat, pow_lt; lra).
  set (s := smooth_sensitivity lo hi n m beta) in *.
  split; [apply Rle_trans with (1 := H1), Rle_trans with (2 := Lx), Rmax_l|].
  assert (grow : Rmax (s x) floor <= exp beta * Rmax (s y) floor).
  { pose proof (exp_ineq1_le beta). pose proof (Rmax_l (s y) floor).
    pose proof (Rmax_r (s y) floor).
    apply Rmax_lub; [apply Rle_trans with (1 := H2)|apply Rle_trans with (1 * floor)]; nra. }
  rewrite exp_plus. apply Rle_trans with (1 := Ux).
  apply Rle_trans with ((1 + eta) * (exp beta * Rmax (s y) floor)).
  - apply Rmult_le_compat_l; [lra|exact grow].
  - rewrite (Rmult_comm (exp beta) (exp eta)), Rmult_assoc. pose proof (exp_pos beta).
    pose proof (Rmax_r (s y) floor). apply Rmult_le_compat.
    + lra.
    + apply Rmult_le_pos; lra.
    + apply exp_ineq1_le.
    + apply Rmult_le_compat_l; [lra|exact Ly].
Qed.

(* The greatest value of a pair whose ranks are at most w away from m. *)
Definition in_window (m w : nat) (ij : nat * nat) : bool :=
  (m <=? fst ij + w) && (snd ij <=? m + w).

Definition window_sensitivity (n m w : nat) (beta : R) (x : nat -> R) : R :=
  greatest (map (fun ij => pair_value beta x (fst ij) (snd ij))
                (filter (in_window m w) (pairs n m))).

(* Of dpfast/sensitivity/quantile.py: from a first window of ranks, which gives some value, or from
   the public floor follows a width that is certainly enough. *)
Theorem window_suffices : forall lo hi n m beta floor first width x,
  lo <= hi -> (1 <= m <= n)%nat -> 0 <= beta -> is_table lo hi n x -> (first <= width)%nat ->
  (hi - lo) * exp (- beta * INR width) <=
    Rmax (window_sensitivity n m first beta (order_statistic lo hi x)) floor ->
  Rmax (window_sensitivity n m width beta (order_statistic lo hi x)) floor =
  Rmax (smooth_sensitivity lo hi n m beta x) floor.
Proof.
  intros lo hi n m beta floor first width x Hlo Hm Hb Hx Hw H.
  set (x_ := order_statistic lo hi x) in *.
  assert (wider : window_sensitivity n m first beta x_ <= window_sensitivity n m width beta x_).
  { apply greatest_below; [apply greatest_nonnegative|]. intros u Hu. apply greatest_above.
    apply in_map_iff in Hu. destruct Hu as (ij & <- & Hu). apply in_map_iff. exists ij.
    split; [reflexivity|]. apply filter_In in Hu. apply filter_In. unfold in_window in *.
    rewrite andb_true_iff, !Nat.leb_le in *. intuition lia. }
  assert (inner : window_sensitivity n m width beta x_ <= smooth_sensitivity lo hi n m beta x).
  { apply greatest_below; [apply greatest_nonnegative|]. intros u Hu. apply greatest_above.
    apply in_map_iff in Hu. destruct Hu as (ij & <- & Hu). apply filter_In in Hu.
    apply in_map_iff. now exists ij. }
  apply Rle_antisym; apply Rmax_lub; try apply Rmax_r;
  [apply Rle_trans with (1 := inner), Rmax_l|].
  destruct (smooth_attained lo hi n m Hlo Hm beta x Hx) as (i & j & Him & Hij & E).
  destruct (in_window m width (i, j)) eqn:Ew.
  - rewrite E. apply Rle_trans with (2 := Rmax_l _ _). apply greatest_above, in_map_iff.
    exists (i, j). split; [reflexivity|]. apply filter_In. now rewrite in_pairs.
  - apply Rle_trans with ((hi - lo) * exp (- beta * INR width)).
    + rewrite E. unfold pair_value. fold x_. assert (Hs : (width <= j - i - 1)%nat).
      { unfold in_window in Ew. rewrite andb_false_iff, !Nat.leb_gt in Ew. simpl in Ew. lia. }
      pose proof (order_statistic_bounded lo hi n x i Hlo Hx) as Bi.
      pose proof (order_statistic_bounded lo hi n x j Hlo Hx) as Bj. fold x_ in Bi, Bj.
      apply Rle_trans with ((hi - lo) * exp (- beta * INR (j - i - 1))).
      * apply Rmult_le_compat_r; [left; apply weight_positive|lra].
      * apply Rmult_le_compat_l; [lra|]. now apply weight_decreases.
    + apply Rle_trans with (1 := H). apply Rmax_lub; [|apply Rmax_r].
      apply Rle_trans with (1 := wider), Rmax_l.
Qed.

(* Three rows, of which the second smallest is asked for. *)
Example table_of_three : is_table 0 10 3 [5; 2; 9] /\
  order_statistic 0 10 [5; 2; 9] 2 = 5 /\
  local_sensitivity 0 10 2 [5; 2; 9] 0 = 4 /\ local_sensitivity 0 10 2 [5; 2; 9] 1 = 7.
Proof.
  split; [split; [reflexivity|repeat constructor; lra]|].
  assert (E : sort [5; 2; 9] = [2; 5; 9]).
  { simpl. repeat (destruct (Rle_dec _ _); try lra; simpl). reflexivity. }
  unfold local_sensitivity, order_statistic. rewrite E. simpl. unfold Rmax.
  repeat destruct (Rle_dec _ _); lra.
Qed.
