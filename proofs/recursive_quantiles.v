(* Many quantiles by a recursion of draws, each of which divides the rows of its node in two. *)

From Coq Require Import Reals ZArith Lra Lia List Bool Permutation.
From Dpfast Require Import distributions exponential_mechanism composition interpolated_rank.
Import ListNotations.
Open Scope R_scope.

(* The draws: of a node, with its candidates (a cell with a fraction), their base measure and the
   rate c, and what is drawn after it of the rows on the left and on the right. All this is public:
   it may depend on what has been released. *)
Inductive plan : Type :=
| nothing
| draw (p : node) (divides : bool) (candidates : list (Z * R)) (base : Z * R -> R) (c : R)
    (lower upper : Z * R -> plan).

Inductive released : Type :=
| no_release
| release_of (drawn : Z * R) (lower upper : released).

Definition utility_of (p : node) (divides : bool) (x : list row) (o : Z * R) : R :=
  if divides then utility_divided p x o else utility p x (fst o).

(* The parts of a row that go left and right of a cell with a fraction. *)
Definition left_row (o : Z * R) (r : row) : row :=
  (Z.min (fst r) (fst o), if (fst r <? fst o)%Z then snd r
    else if (fst r =? fst o)%Z then snd o * snd r else 0).

Definition right_row (o : Z * R) (r : row) : row :=
  (Z.max (fst r) (fst o), if (fst o <? fst r)%Z then snd r
    else if (fst r =? fst o)%Z then (1 - snd o) * snd r else 0).

Fixpoint release (t : plan) (x : list row) : distribution released :=
  match t with
  | nothing => certain no_release
  | draw p divides candidates base c lower upper =>
      bind (exponential_mechanism candidates base c (utility_of p divides) x) (fun o =>
      bind (release (lower o) (map (left_row o) x)) (fun l =>
      bind (release (upper o) (map (right_row o) x)) (fun r => certain (release_of o l r))))
  end.

(* The k of dpfast: D under add-remove; under replace 2 D, but 1 for a node that is alone on its
   level, which is so at the root and where there are 2^level quantiles. *)
Definition rate_divisor (replace : bool) (count level : nat) (q : R) : R :=
  if replace
  then if (level =? 0)%nat || (count =? 2 ^ level)%nat then 1 else 2 * most q
  else most q.

(* A plan for so many quantiles (`size`) between two ends, as dpfast makes it: the middle one is
   drawn first, with c = e / (2 k) rounded down. *)
Fixpoint is_plan (replace : bool) (e : R) (count level size : nat) (a b : Z) (t : plan) : Prop :=
  match t with
  | nothing => size = 0%nat
  | draw p divides candidates base c lower upper =>
      size <> 0%nat /\ first p = a /\ last p = b /\ is_node p /\ linear p /\
      is_base candidates base /\
      0 <= c <= e / (2 * rate_divisor replace count level (fraction p)) /\
      forall o, In o candidates -> (a <= fst o <= b)%Z /\ 0 <= snd o <= 1 /\
        is_plan replace e count (S level) (size / 2) a (fst o) (lower o) /\
        is_plan replace e count (S level) ((size - 1) / 2) (fst o) b (upper o)
  end.

(* The same outcomes in the same order, with probabilities that differ by a factor of exp(e). *)
Definition close {A : Type} (e : R) (p q : distribution A) : Prop :=
  Forall2 (fun u v => fst u = fst v /\ 0 <= snd u /\ 0 <= snd v /\ snd u <= exp e * snd v) p q.

Lemma close_within : forall (A : Type) e (p q : distribution A), close e p q -> within e 0 p q.
Proof.
  intros A e p q H s. unfold probability.
  induction H as [|[x w] [y v] p q [E [_ [_ H]]] F IH]; simpl in *; [lra|].
  subst y. destruct (s x); lra.
Qed.

Lemma close_weaker : forall (A : Type) e e' (p q : distribution A),
  e <= e' -> close e p q -> close e' p q.
Proof.
  intros A e e' p q He%exp_monotone.
  induction 1 as [|u v p q [E [Hu [Hv L]]] F IH]; constructor; auto. repeat split; auto. nra.
Qed.

Lemma close_bind : forall (A B : Type) e e' (p q : distribution A) (k k' : A -> distribution B),
  close e p q -> (forall x, In x (map fst p) -> close e' (k x) (k' x)) ->
  close (e + e') (bind p k) (bind q k').
Proof.
  intros A B e e' p q k k' H. unfold close in *.
  induction H as [|[x w] [y v] p q [E [Hw [Hv L]]] F IH]; intros K; simpl in *; [constructor|].
  subst y. apply Forall2_app; [|now apply IH; auto].
  assert (C : close e' (k x) (k' x)) by (apply K; now left). clear - C Hw Hv L.
  induction C as [|u t l l' [E [Hu [Ht M]]] F IH]; simpl; constructor; auto; simpl.
  repeat split; auto; try now apply Rmult_le_pos.
  rewrite exp_plus. pose proof (Rmult_le_compat _ _ _ _ Hw Hu L M). lra.
Qed.

(* The parts of a row have its mass together. *)
Lemma differ_split : forall a b x y s s' o,
  differ a b x y s s' -> (a <= fst o <= b)%Z -> 0 <= snd o <= 1 ->
  exists l l' r r', l + r <= s /\ l' + r' <= s' /\
    differ a (fst o) (map (left_row o) x) (map (left_row o) y) l l' /\
    differ (fst o) b (map (right_row o) x) (map (right_row o) y) r r'.
Proof.
  intros a b x y s s' o [z [u [u' [U [U' [X [Y [<- <-]]]]]]]] Ho Hf.
  assert (P : forall v, at_most_one a b v ->
    at_most_one a (fst o) (map (left_row o) v) /\ at_most_one (fst o) b (map (right_row o) v) /\
    mass (map (left_row o) v) + mass (map (right_row o) v) <= mass v).
  { intros v [-> | [r [-> [Hc [Hs Hr]]]]]; unfold mass; simpl.
    { split; [now left|]. split; [now left | lra]. }
    unfold left_row, right_row, at_most_one, is_row.
    destruct (Z.ltb_spec (fst r) (fst o)), (Z.ltb_spec (fst o) (fst r)),
      (Z.eqb_spec (fst r) (fst o)); try lia; (split; [right; eexists; split; [reflexivity|]|
      split; [right; eexists; split; [reflexivity|] | simpl; lra]]); simpl;
      (split; [lia|]; split; [nra|]; intros; try lia; apply Hr; lia). }
  destruct (P u U) as [L [R S]], (P u' U') as [L' [R' S']].
  assert (M : forall (f : row -> row) v w,
    Permutation (v ++ z) w -> Permutation (map f v ++ map f z) (map f w))
    by (intros f v w H; rewrite <- map_app; now apply Permutation_map).
  exists (mass (map (left_row o) u)), (mass (map (left_row o) u')),
    (mass (map (right_row o) u)), (mass (map (right_row o) u')).
  split; [exact S|]. split; [exact S'|]. split; unfold differ; eauto 12.
Qed.

Lemma draw_close : forall p divides candidates base c x y s s' k e,
  is_node p -> linear p -> is_base candidates base -> 0 <= c -> 2 * c * k <= e ->
  (forall o, In o candidates -> (first p <= fst o <= last p)%Z /\ 0 <= snd o <= 1) ->
  differ (first p) (last p) x y s s' ->
  (1 - fraction p) * s + fraction p * s' <= k -> fraction p * s + (1 - fraction p) * s' <= k ->
  close e (exponential_mechanism candidates base c (utility_of p divides) x)
    (exponential_mechanism candidates base c (utility_of p divides) y).
Proof.
  intros p divides cs base c x y s s' k e Hp [z Hz] Hb Hc He Hcs D K K'.
  assert (B : bounded_range e cs (chance cs base c (utility_of p divides x))
    (chance cs base c (utility_of p divides y))).
  { apply (bounded_range_larger _ (c * (2 * k))); auto using chance_nonnegative; [lra|].
    apply exponential_bounded_range; auto. exists (- k). intros [o f] Ho.
    destruct (Hcs _ Ho) as [Hr Hf]. destruct (utilities_move p x y s s' o f k Hp D Hr Hf) as [U V];
      [intros m; rewrite !Hz; lra|].
    revert U V. unfold utility_of, Rabs.
    destruct divides; repeat destruct (Rcase_abs _); simpl; lra. }
  unfold exponential_mechanism.
  assert (E : forall l, incl l cs -> close e
    (map (fun o => (o, chance cs base c (utility_of p divides x) o)) l)
    (map (fun o => (o, chance cs base c (utility_of p divides y) o)) l)); [|apply E, incl_refl].
  induction l as [|o l IH]; [constructor|]. intros [Ho I]%incl_cons_inv.
  constructor; [|now apply IH]. simpl. repeat split; auto using chance_nonnegative.
  apply (bounded_range_each _ _ cs); auto using chance_total.
Qed.

(* The most that the masses of both rows add up to. *)
Definition largest_sum (replace : bool) : R := if replace then 2 else 1.

Lemma differ_masses : forall a b x y s s', differ a b x y s s' -> 0 <= s <= 1 /\ 0 <= s' <= 1.
Proof.
  intros a b x y s s' [z [u [u' [U [U' [_ [_ [<- <-]]]]]]]].
  destruct U as [-> | [r [-> [_ [R _]]]]], U' as [-> | [r' [-> [_ [R' _]]]]];
    unfold mass; simpl; lra.
Qed.

Lemma share_bounds : forall replace a b x y s s', differ a b x y s s' ->
  s + s' <= largest_sum replace -> 0 <= (s + s') / largest_sum replace <= 1.
Proof. intros replace * D%differ_masses H. unfold largest_sum in *. destruct replace; lra. Qed.

(* What a plan costs from a level on, of m levels with several nodes each, and of `extra`, which is
   1 if one of its nodes is alone on its level. *)
Definition costs (replace : bool) (e : R) (count : nat) (t : plan) : Prop :=
  forall level size a b x y s s' m extra,
  (1 <= level)%nat -> is_plan replace e count level size a b t -> differ a b x y s s' ->
  s + s' <= largest_sum replace -> (size < 2 ^ m + extra)%nat -> (extra <= 1)%nat ->
  (forall k, (level <= k < level + m)%nat -> count <> (2 ^ k)%nat) ->
  (extra = 1%nat -> count = (2 ^ (level + m))%nat) ->
  close (e * ((s + s') / largest_sum replace * INR m + INR extra)) (release t x) (release t y).

Lemma draw_costs : forall replace e count level size a b x y s s' m extra p d cs base c lower upper,
  0 <= e -> (forall o, costs replace e count (lower o)) ->
  (forall o, costs replace e count (upper o)) ->
  is_plan replace e count level size a b (draw p d cs base c lower upper) ->
  differ a b x y s s' -> s + s' <= largest_sum replace ->
  (size / 2 < 2 ^ m + extra)%nat -> ((size - 1) / 2 < 2 ^ m)%nat -> (extra <= 1)%nat ->
  (forall k, (S level <= k < S level + m)%nat -> count <> (2 ^ k)%nat) ->
  (extra = 1%nat -> count = (2 ^ (S level + m))%nat) ->
  close (e * ((if (level =? 0)%nat || (count =? 2 ^ level)%nat then 1
      else (s + s') / largest_sum replace)
    + ((s + s') / largest_sum replace * INR m + INR extra)))
    (release (draw p d cs base c lower upper) x) (release (draw p d cs base c lower upper) y).
Proof.
  intros replace e count level size a b x y s s' m extra p d cs base c lower upper He Lo Up
    [_ [<- [<- [Hp [Hl [Hb [[Hc Hk] H]]]]]]] D HS S1 S2 Hx K K1.
  destruct (differ_masses _ _ _ _ _ _ D) as [Hs Hs'].
  destruct (most_bounds (fraction p)) as [D1 [D2 D3]]. pose proof (proj1 Hp).
  unfold rate_divisor in Hk. set (alone := orb _ _) in *. set (J := largest_sum replace) in *.
  assert (HJ : 1 <= J <= 2) by (unfold J, largest_sum; destruct replace; lra).
  assert (Hi : 0 < / J) by (apply Rinv_0_lt_compat; lra).
  assert (HJi : J * / J = 1) by (apply Rinv_r; lra).
  rewrite Rmult_plus_distr_l. simpl release. apply close_bind.
  - set (k := if replace && alone then 1 else most (fraction p) * (s + s')).
    apply (draw_close p d cs base c x y s s' k); auto.
    + assert (T : forall k, 0 < k -> c <= e / (2 * k) -> 2 * (c * k) <= e).
      { intros k' P Q. pose proof (rate_times c e (2 * k') ltac:(lra) Q). lra. }
      assert (0 <= (s + s') * / J <= 1) by (split; nra).
      unfold k, Rdiv, J, largest_sum in *. destruct replace, alone; simpl;
        [specialize (T 1) | specialize (T (2 * most (fraction p)))
        |specialize (T (most (fraction p))) | specialize (T (most (fraction p)))];
        specialize (T ltac:(lra) Hk); nra.
    + intros o Ho. split; apply (H o Ho).
    + unfold k. destruct replace, alone; simpl; nra.
    + unfold k. destruct replace, alone; simpl; nra.
  - intros o Ho. unfold exponential_mechanism in Ho. rewrite map_map, map_id in Ho.
    destruct (H o Ho) as [Hr [Hf [P Q]]].
    destruct (differ_split _ _ _ _ _ _ o D Hr Hf) as [l [l' [r [r' [L [L' [DL DR]]]]]]].
    destruct (differ_masses _ _ _ _ _ _ DL), (differ_masses _ _ _ _ _ _ DR).
    apply (close_weaker _ (e * ((l + l') / J * INR m + INR extra)
      + (e * ((r + r') / J * INR m + INR 0) + 0))).
    { pose proof (pos_INR m). assert (0 <= e * / J * INR m) by
        (apply Rmult_le_pos; [apply Rmult_le_pos; lra | easy]). unfold Rdiv. simpl. nra. }
    apply close_bind; [|intros t _; apply close_bind; [|intros u _]].
    + apply (Lo o (S level) _ _ _ _ _ _ _ _ _ ltac:(lia) P DL); auto. fold J. lra.
    + apply (Up o (S level) _ _ _ _ _ _ _ _ _ ltac:(lia) Q DR); auto; [fold J; lra | lia..].
    + constructor; [|constructor]. simpl. rewrite exp_0. split; [easy | lra].
Qed.

Lemma plan_costs : forall replace e count t, 0 <= e -> costs replace e count t.
Proof.
  intros replace e count t He.
  induction t as [|p d cs base c lower IHl upper IHu];
    intros level size a b x y s s' m extra Hv P D HS Hm Hx K K1;
    pose proof (share_bounds _ _ _ _ _ _ _ D HS); pose proof (pos_INR m);
    pose proof (pos_INR extra).
  - constructor; [|constructor]. set (k := e * _). assert (0 <= k)
      by (apply Rmult_le_pos, Rplus_le_le_0_compat; [|apply Rmult_le_pos|]; lra).
    pose proof (exp_ineq1_le k). simpl. split; [easy | lra].
  - pose proof (proj1 P) as Z. destruct m as [|m].
    + assert (E : extra = 1%nat /\ size = 1%nat) by (simpl in Hm; lia). destruct E as [-> ->].
      specialize (K1 eq_refl). rewrite Nat.add_0_r in K1.
      apply (close_weaker _ (e * (1 + ((s + s') / largest_sum replace * INR 0 + INR 0))));
        [simpl; lra|].
      replace 1 with (if (level =? 0)%nat || (count =? 2 ^ level)%nat then 1
        else (s + s') / largest_sum replace) at 1
        by (rewrite K1, Nat.eqb_refl, orb_true_r; reflexivity).
      apply (draw_costs _ _ _ level 1%nat a b); auto; simpl; lia.
    + assert (N : count <> (2 ^ level)%nat) by (apply K; lia).
      apply (close_weaker _ (e * ((s + s') / largest_sum replace
        + ((s + s') / largest_sum replace * INR m + INR extra)))); [rewrite S_INR; lra|].
      replace ((s + s') / largest_sum replace) with (if (level =? 0)%nat || (count =? 2 ^ level)%nat
        then 1 else (s + s') / largest_sum replace) at 1
        by (apply Nat.eqb_neq in N; rewrite N; destruct level; [lia | reflexivity]).
      simpl in Hm. apply (draw_costs _ _ _ level size a b); auto; try lia.
      1, 2: apply Nat.div_lt_upper_bound; lia.
      * intros k Hk. apply K. lia.
      * intros E. rewrite (K1 E). f_equal. lia.
Qed.

(* Of dpfast/statistics/quantiles/recursive.py: the release of all quantiles is epsilon-private, by
   levels that each spend an L-th of epsilon, L = floor(log2 m) + 1 for m quantiles. *)
Theorem recursive_private : forall (Row : Type) (cell : Row -> Z) first last replace epsilon count
    t,
  (forall v, (first <= cell v <= last)%Z) -> (1 <= count)%nat -> 0 <= epsilon ->
  is_plan replace (epsilon / INR (Nat.log2 count + 1)) count 0 count first last t ->
  private (if replace then replaces_kept else add_remove) epsilon 0
    (fun x : list Row => release t (on_cells cell x)).
Proof.
  intros Row cell a b replace epsilon count t Hc Hn He P x y N.
  set (L := Nat.log2 count) in *. set (e := epsilon / INR (L + 1)) in *.
  assert (HL : 0 < INR (L + 1)) by (apply lt_0_INR; lia).
  assert (E : e * INR (L + 1) = epsilon) by (unfold e; field; lra).
  assert (E0 : 0 <= e) by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
  assert (D : exists s s', differ a b (on_cells cell x) (on_cells cell y) s s' /\
    s + s' <= largest_sum replace).
  { destruct (neighbors_differ Row cell a b x y Hc) as [A B]. unfold largest_sum.
    destruct replace; [destruct N as [N|N]; [exists 1, 1; split; [auto | lra]|]|];
      (destruct (A N); [exists 0, 1 | exists 1, 0]; (split; [easy | lra])). }
  destruct D as [s [s' [D HS]]]. destruct t as [|p d cs base c lower upper]; [simpl in P; lia|].
  destruct (Nat.log2_spec count Hn) as [G1 G2]. fold L in G1, G2. simpl in G2.
  pose proof (share_bounds _ _ _ _ _ _ _ D HS).
  assert (U : forall k, count = (2 ^ k)%nat -> L = k)
    by (intros k Hk; unfold L; rewrite Hk; apply Nat.log2_pow2; lia).
  apply close_within. rewrite <- E.
  assert (M : exists m extra, (m + extra = L)%nat /\ (extra <= 1)%nat /\
    (count / 2 < 2 ^ m + extra)%nat /\ ((count - 1) / 2 < 2 ^ m)%nat /\
    (forall k, (1 <= k < 1 + m)%nat -> count <> (2 ^ k)%nat) /\
    (extra = 1%nat -> count = (2 ^ (1 + m))%nat)).
  { destruct (Nat.eq_dec count (2 ^ L)) as [Q|Q]; [destruct L as [|l] eqn:EL|].
    - exists 0%nat, 0%nat. rewrite Q. simpl. repeat split; lia.
    - exists l, 1%nat. simpl in Q. repeat split; try (simpl; lia);
        try (apply Nat.div_lt_upper_bound; lia). intros k Hk Z. apply U in Z. lia.
    - exists L, 0%nat. repeat split; try lia; try (apply Nat.div_lt_upper_bound; lia).
      intros k Hk Z. pose proof (U k Z). subst k. contradiction. }
  destruct M as [m [extra [Em [Hx [M1 [M2 [K K1]]]]]]].
  eapply close_weaker; [|apply (draw_costs replace e count 0 count a b _ _ s s' m extra);
    auto using plan_costs].
  rewrite <- Em, !plus_INR. simpl. apply Rmult_le_compat_l; [easy|]. pose proof (pos_INR m). nra.
Qed.

(* Two quantiles under replace: the root is divided, and one node is alone on the level below. *)
Definition half_node (a b : Z) : node := Node a b (1 / 2) 0 (near_of 0) (fun m => 1 / 2 * m).

Example two_quantiles : forall e, 0 <= e ->
  is_plan true e 2 0 2 0 2
    (draw (half_node 0 2) true [(0%Z, 1 / 2); (2%Z, 1 / 2)] (fun _ => 1) (e / 2)
    (fun o => draw (half_node 0 (fst o)) false [(0%Z, 0)] (fun _ => 1) (e / 2)
      (fun _ => nothing) (fun _ => nothing))
    (fun _ => nothing)).
Proof.
  intros e He. assert (H : forall a b, is_node (half_node a b) /\ linear (half_node a b)).
  { intros a b. split; [|exists 0; intros m; simpl; lra].
    split; [simpl; lra|]. split; [simpl; lia | apply near_of_steps; lra]. }
  assert (B : forall o l, is_base (o :: l) (fun _ : Z * R => 1))
    by (split; [intros; lra | exists o; split; [now left | lra]]).
  split; [easy|]. do 2 (split; [easy|]). do 2 (split; [apply H|]). split; [apply B|].
  split; [simpl; lra|]. intros o Ho.
  assert (Hr : (0 <= fst o <= 2)%Z /\ 0 <= snd o <= 1)
    by (destruct Ho as [<- | [<- | []]]; simpl; split; lia || lra).
  split; [easy|]. split; [easy|]. split; [|easy]. change (2 / 2)%nat with 1%nat.
  split; [easy|]. do 2 (split; [easy|]). do 2 (split; [apply H|]). split; [apply B|].
  split; [simpl; lra|]. intros u [<- | []]. simpl. repeat split; lia || lra.
Qed.
