(* The linear algorithm for the smooth sensitivity of an order statistic: an upper envelope. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Dpfast Require Import order_statistics smooth_replace.
Import ListNotations.
Open Scope R_scope.

Section Algorithm.

(* The value of each rank, rank 0 being the lower bound and rank n + 1 the upper one. *)
Variables (beta : R) (x : nat -> R).

(* Where column j' overtakes column j < j': x_j - (x_j' - x_j) / (e^(beta (j' - j)) - 1). *)
Definition turn (j j' : nat) : R := x j - (x j' - x j) / (exp (beta * INR (j' - j)) - 1).

(* Columns leave the top of the stack, which is the head of the list, when column c overtakes the
   top before the top overtakes the column below it. *)
Fixpoint pop (c : nat) (stack : list nat) : list nat :=
  match stack with
  | b :: (a :: _) as rest => if Rle_dec (turn b c) (turn a b) then pop c rest else stack
  | _ => stack
  end.

(* A column that overtakes the top of the stack only from x_m on is left out. *)
Definition push (m : nat) (stack : list nat) (c : nat) : list nat :=
  match stack with
  | [] => [c]
  | top :: _ => if Rle_dec (x m) (turn top c) then stack else c :: pop c stack
  end.

(* The columns m .. n + 1 that are somewhere the best, from the bottom of the stack. *)
Definition columns (n m : nat) : list nat := rev (fold_left (push m) (seq m (n + 2 - m)) []).

(* The pointer moves on while the next column is not below the present one at v. *)
Fixpoint advance (v : R) (cols : list nat) : list nat :=
  match cols with
  | p :: (q :: _) as rest => if Rle_dec (turn p q) v then advance v rest else cols
  | _ => cols
  end.

(* Each row i takes the column where the pointer stops; the next row starts from there. *)
Fixpoint rows (ranks cols : list nat) (best : R) : R :=
  match ranks with
  | [] => best
  | i :: ranks' =>
      let cols' := advance (x i) cols in
      let j := hd 0%nat cols' in
      rows ranks' cols' (if i <? j then Rmax best (pair_value beta x i j) else best)
  end.

Definition envelope (n m : nat) : R := rows (seq 0 (m + 1)) (columns n m) 0.

End Algorithm.

Section Exact.

Variables (beta : R) (x : nat -> R) (n m : nat).
Hypothesis rate : 0 < beta.
Hypothesis ascending : forall i j, (i <= j <= n + 1)%nat -> x i <= x j.
Hypothesis rank : (m <= n)%nat.

Notation turn := (turn beta x).
Notation pop := (pop beta x).
Notation push := (push beta x m).
Notation advance := (advance beta x).
Notation rows := (rows beta x).

(* A column's values, but for the factor e^(beta (i + 1)) of the row, are on a line. *)
Definition line (j : nat) (v : R) : R := (x j - v) * exp (- beta * INR j).

Lemma lines_differ : forall a b, (a < b)%nat ->
  exists slope, 0 < slope /\ forall v, line b v - line a v = slope * (v - turn a b).
Proof.
  intros a b H. exists (exp (- beta * INR a) - exp (- beta * INR b)). unfold line, envelope.turn.
  assert (E : exp (- beta * INR a) = exp (beta * INR (b - a)) * exp (- beta * INR b)).
  { rewrite <- exp_plus. f_equal. rewrite minus_INR by lia. ring. }
  assert (G : 1 < exp (beta * INR (b - a))).
  { rewrite <- exp_0. apply exp_increasing, Rmult_lt_0_compat; [exact rate|]. apply lt_0_INR. lia. }
  pose proof (exp_pos (- beta * INR b)). rewrite E.
  set (w := exp (beta * INR (b - a))) in *. split; [nra|]. intros v. field. lra.
Qed.

Lemma turn_after : forall a b v, (a < b)%nat -> turn a b <= v -> line a v <= line b v.
Proof. intros a b v H Hv. destruct (lines_differ a b H) as (k & Hk & E). specialize (E v). nra. Qed.

Lemma turn_before : forall a b v, (a < b)%nat -> v <= turn a b -> line b v <= line a v.
Proof. intros a b v H Hv. destruct (lines_differ a b H) as (k & Hk & E). specialize (E v). nra. Qed.

(* Everywhere in a region, one of the columns kept is at least as high as column j. *)
Definition covered (region : R -> Prop) (j : nat) (kept : list nat) : Prop :=
  forall v, region v -> exists s, In s kept /\ line j v <= line s v.

(* What holds of the stack: ranks and turns ascend from the bottom. *)
Fixpoint stacked (stack : list nat) : Prop :=
  match stack with
  | c :: (b :: rest) as l =>
      (b < c)%nat /\ match rest with a :: _ => turn a b < turn b c | [] => True end /\ stacked l
  | _ => True
  end.

Lemma pop_correct : forall c stack, stacked stack -> (forall s, In s stack -> (s < c)%nat) ->
  stacked (c :: pop c stack) /\ (forall s, In s (pop c stack) -> In s stack) /\
  forall b, In b stack -> covered (fun _ => True) b (c :: pop c stack).
Proof.
  intros c. induction stack as [|b [|a rest] IH]; intros Hs Hc.
  - repeat split; easy.
  - simpl. repeat split; auto; [apply Hc; now left|]. intros s [<-|[]] v _. exists b.
    split; [simpl; auto|lra].
  - destruct Hs as (Hab & Ht & Hs).
    assert (Hbc : (b < c)%nat) by (apply Hc; now left).
    change (pop c (b :: a :: rest)) with
      (if Rle_dec (turn b c) (turn a b) then pop c (a :: rest) else b :: a :: rest).
    destruct (Rle_dec (turn b c) (turn a b)) as [H|H].
    + destruct IH as (I1 & I2 & I3); [exact Hs|intros; apply Hc; now right|].
      split; [exact I1|]. split; [intros s Q; right; now apply I2|].
      intros s [<-|Q]; [|now apply I3].
      intros v _. destruct (Rle_lt_dec v (turn a b)) as [Hv|Hv].
      * destruct (I3 a (or_introl eq_refl) v I) as (s & Q & Hl). exists s. split; [exact Q|].
        apply Rle_trans with (2 := Hl). now apply turn_before.
      * exists c. split; [now left|]. apply turn_after; [exact Hbc|lra].
    + split; [simpl; repeat split; auto; lra|]. split; [auto|]. intros s Q v _. exists s.
      split; [now right|lra].
Qed.

Lemma push_correct : forall c stack, stacked stack -> (forall s, In s stack -> (s < c)%nat) ->
  stacked (push stack c) /\ push stack c <> [] /\
  (forall s, In s (push stack c) -> In s (c :: stack)) /\
  forall b, In b (c :: stack) -> covered (fun v => v <= x m) b (push stack c).
Proof.
  intros c stack Hs Hc. unfold envelope.push. destruct stack as [|top stack].
  - repeat split; try easy. intros b Q v _. exists b. split; [exact Q|lra].
  - destruct (Rle_dec (x m) (turn top c)) as [H|H].
    + repeat split; try easy; [now right|]. intros b [<-|Q] v Hv; [|exists b; split; [exact Q|lra]].
      exists top. split; [now left|]. apply turn_before; [apply Hc; now left|lra].
    + destruct (pop_correct c (top :: stack) Hs Hc) as (H1 & H2 & H3).
      repeat split; [exact H1|easy|intros s [Q|Q]; [now left|right; now apply H2]|].
      intros b [<-|Q] v Hv; [exists c; split; [now left|lra]|]. now apply (H3 b Q v).
Qed.

Lemma columns_stacked : forall k, stacked (fold_left push (seq m k) []) /\
  (forall s, In s (fold_left push (seq m k) []) -> (m <= s < m + k)%nat) /\
  (k <> 0%nat -> fold_left push (seq m k) [] <> []) /\
  forall j, (m <= j < m + k)%nat -> covered (fun v => v <= x m) j (fold_left push (seq m k) []).
Proof.
  induction k as [|k (I1 & I2 & _ & I3)]; [simpl; repeat split; easy || lia|].
  rewrite seq_S, fold_left_app. simpl fold_left at 1 3 5 7.
  set (stack := fold_left push (seq m k) []) in *.
  destruct (push_correct (m + k) stack I1) as (H1 & H2 & H3 & H4); [intros; now apply I2|].
  repeat split; trivial.
  - destruct (H3 s H) as [<-|Q]; [lia|]. now apply I2.
  - destruct (H3 s H) as [<-|Q]; [lia|]. specialize (I2 s Q). lia.
  - intros j Hj v Hv. destruct (Nat.eq_dec j (m + k)) as [->|E]; [now apply H4; [left|]|].
    destruct (I3 j ltac:(lia) v Hv) as (s & Q & Hl).
    destruct (H4 s (or_intror Q) v Hv) as (t & Q' & Hl'). exists t. split; [exact Q'|lra].
Qed.

(* The same of the columns from the bottom on. *)
Fixpoint chain (cols : list nat) : Prop :=
  match cols with
  | p :: (q :: rest) as l =>
      (p < q)%nat /\ match rest with r :: _ => turn p q < turn q r | [] => True end /\ chain l
  | _ => True
  end.

Lemma chain_reversed : forall stack c above, stacked (c :: stack) -> chain (c :: above) ->
  match stack, above with b :: _, d :: _ => turn b c < turn c d | _, _ => True end ->
  chain (rev_append stack (c :: above)).
Proof.
  induction stack as [|b stack IH]; intros c above Hs Hc Hj; [exact Hc|].
  destruct Hs as (Hbc & Ht & Hs). simpl. apply IH; [exact Hs| |exact Ht].
  split; [exact Hbc|]. now split.
Qed.

Lemma chain_first : forall rest p q v, chain (p :: q :: rest) -> v <= turn p q ->
  forall s, In s (q :: rest) -> line s v <= line p v.
Proof.
  induction rest as [|r rest IH]; intros p q v (Hpq & Ht & Hc) Hv s [<-|Q];
  try (now apply turn_before).
  apply Rle_trans with (line q v); [|now apply turn_before]. apply (IH q r); trivial. lra.
Qed.

Lemma advance_correct : forall v cols, chain cols ->
  chain (advance v cols) /\ (forall s, In s (advance v cols) -> In s cols) /\
  (cols <> [] -> advance v cols <> []) /\
  (forall b, In b cols -> covered (fun u => v <= u) b (advance v cols)) /\
  forall s, In s (advance v cols) -> line s v <= line (hd 0%nat (advance v cols)) v.
Proof.
  intros v. induction cols as [|p [|q rest] IH]; intros Hc.
  - repeat split; easy.
  - simpl. repeat split; auto.
    + intros b Q u _. exists b. split; [exact Q|lra].
    + intros s [<-|[]]. lra.
  - change (advance v (p :: q :: rest)) with
      (if Rle_dec (turn p q) v then advance v (q :: rest) else p :: q :: rest).
    destruct (Rle_dec (turn p q) v) as [H|H].
    + destruct Hc as (Hpq & Ht & Hc). destruct (IH Hc) as (I1 & I2 & I3 & I4 & I5).
      split; [exact I1|]. split; [intros s Q; right; now apply I2|].
      split; [intros _; now apply I3|]. split; [|exact I5]. intros b [<-|Q]; [|now apply I4].
      intros u Hu. destruct (I4 q (or_introl eq_refl) u Hu) as (s & Q & Hl). exists s.
      split; [exact Q|]. apply Rle_trans with (2 := Hl). apply turn_after; [exact Hpq|lra].
    + split; [exact Hc|]. split; [auto|]. split; [auto|]. split.
      * intros b Q u _. exists b. split; [exact Q|lra].
      * intros s [<-|Q]; [simpl; lra|]. simpl hd. apply (chain_first rest p q); trivial. lra.
Qed.

Lemma rows_above : forall ranks cols best, best <= rows ranks cols best.
Proof.
  induction ranks as [|i ranks IH]; intros cols best; simpl; [lra|].
  apply Rle_trans with (2 := IH _ _). destruct (i <? _); [apply Rmax_l|lra].
Qed.

(* No more than the greatest pair. *)
Lemma rows_below : forall most ranks cols best, chain cols -> cols <> [] -> best <= most ->
  (forall i j, In i ranks -> In j cols -> (i < j)%nat -> pair_value beta x i j <= most) ->
  rows ranks cols best <= most.
Proof.
  intros most. induction ranks as [|i ranks IH]; intros cols best Hc Hn Hb H; simpl; [exact Hb|].
  destruct (advance_correct (x i) cols Hc) as (H1 & H2 & H3 & _).
  assert (Hd : In (hd 0%nat (advance (x i) cols)) (advance (x i) cols)).
  { specialize (H3 Hn). destruct (advance (x i) cols); [easy|now left]. }
  apply IH; auto; [|intros i' j' Hi Hj; apply H; [now right|now apply H2]].
  destruct (Nat.ltb_spec i (hd 0%nat (advance (x i) cols))); [|exact Hb].
  apply Rmax_lub; [exact Hb|]. apply H; [now left|now apply H2|exact H0].
Qed.

Lemma pair_on_line : forall i j, (i < j)%nat ->
  pair_value beta x i j = line j (x i) * exp (beta * INR (i + 1)).
Proof.
  intros i j H. unfold pair_value, line. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal.
  replace (j - i - 1)%nat with (j - (i + 1))%nat by lia. rewrite minus_INR by lia. ring.
Qed.

(* No less than any pair. *)
Lemma rows_reach : forall k i cols best, (i + k = m + 1)%nat -> 0 <= best -> chain cols ->
  cols <> [] -> (forall s, In s cols -> (m <= s)%nat) ->
  forall i' j, (i <= i' <= m)%nat -> (i' < j)%nat ->
  covered (fun v => x i <= v <= x m) j cols ->
  pair_value beta x i' j <= rows (seq i k) cols best.
Proof.
  induction k as [|k IH]; intros i cols best Hk Hb Hc Hn Hm i' j Hi Hj Hcov; [lia|]. simpl.
  destruct (advance_correct (x i) cols Hc) as (H1 & H2 & H3 & H4 & H5). specialize (H3 Hn).
  set (cols' := advance (x i) cols) in *. set (s := hd 0%nat cols') in *.
  assert (Hs : In s cols') by (unfold s; destruct cols'; [easy|now left]).
  set (best' := if i <? s then _ else best).
  assert (Hb' : best <= best') by (unfold best'; destruct (i <? s); [apply Rmax_l|lra]).
  assert (Hcov' : covered (fun v => x i <= v <= x m) j cols').
  { intros v Hv. destruct (Hcov v Hv) as (t & Q & Hl).
    destruct (H4 t Q v (proj1 Hv)) as (t' & Q' & Hl'). exists t'. split; [exact Q'|lra]. }
  destruct (Nat.eq_dec i i') as [<-|E].
  - apply Rle_trans with (2 := rows_above _ _ _).
    destruct (Hcov' (x i)) as (t & Q & Hl); [split; [lra|apply ascending; lia]|].
    specialize (H5 t Q). pose proof (exp_pos (beta * INR (i + 1))) as G.
    assert (Hl' : pair_value beta x i j <= line s (x i) * exp (beta * INR (i + 1))).
    { rewrite pair_on_line by exact Hj. apply Rmult_le_compat_r; lra. }
    apply Rle_trans with (1 := Hl'). unfold best'. destruct (Nat.ltb_spec i s) as [L|L].
    + rewrite <- pair_on_line by exact L. apply Rmax_r.
    + specialize (Hm s (H2 s Hs)). replace s with i by lia. unfold line. nra.
  - apply (IH (S i)); trivial; try lia; [lra|intros; apply Hm; now apply H2|].
    intros v Hv. apply Hcov'. pose proof (ascending i (S i) ltac:(lia)). lra.
Qed.

Lemma envelope_is_greatest : envelope beta x n m = greatest_pair n m beta x.
Proof.
  unfold envelope, columns. destruct (columns_stacked (n + 2 - m)) as (H1 & H2 & H3 & H4).
  specialize (H3 ltac:(lia)). set (stack := fold_left push _ []) in *.
  assert (Hc : chain (rev stack)).
  { rewrite rev_alt. destruct stack as [|c stack]; [easy|]. simpl.
    apply chain_reversed; simpl; trivial. now destruct stack. }
  assert (Hn : rev stack <> []).
  { intros E. apply H3. now rewrite <- (rev_involutive stack), E. }
  apply Rle_antisym.
  - apply rows_below; trivial; [apply greatest_nonnegative|]. intros i j Hi Hj Hij.
    apply in_seq in Hi. apply in_rev, H2 in Hj. apply greatest_above, in_map_iff.
    exists (i, j). rewrite in_pairs. split; [reflexivity|lia].
  - apply greatest_below; [apply rows_above|]. intros u Hu. apply in_map_iff in Hu.
    destruct Hu as ((i, j) & <- & Hij). apply in_pairs in Hij. simpl.
    apply rows_reach; trivial; try lia; try lra.
    + intros s Q. apply in_rev, H2 in Q. lia.
    + intros v [_ Hv]. destruct (H4 j ltac:(lia) v Hv) as (s & Q & Hl). exists s.
      split; [now apply -> in_rev|exact Hl].
Qed.

End Exact.

(* Of csrc/sensitivity/envelope_replace.c: in exact arithmetic the upper envelope, built as a stack
   of columns and read by rows with one forward pointer, returns the greatest value of a pair for
   any ascending values. *)
Theorem envelope_exact : forall beta x n m, 0 < beta ->
  (forall i j, (i <= j <= n + 1)%nat -> x i <= x j) -> (m <= n)%nat ->
  envelope beta x n m = greatest_pair n m beta x.
Proof. intros. now apply envelope_is_greatest. Qed.

(* Of csrc/sensitivity/envelope_replace.c: so for order statistics it is the smooth sensitivity. *)
Theorem envelope_smooth : forall lo hi n m beta x, lo <= hi -> (m <= n)%nat -> 0 < beta ->
  is_table lo hi n x ->
  envelope beta (order_statistic lo hi x) n m = smooth_sensitivity lo hi n m beta x.
Proof.
  intros. apply envelope_exact; trivial. intros. apply (order_statistic_increases lo hi n); trivial.
  lia.
Qed.

(* Of csrc/sensitivity/envelope_replace.c: the values in a mirror, where rank r stands for n + 1 - r
   and its value for minus the value there, give the same. *)
Theorem envelope_mirrored : forall beta x n m, 0 < beta ->
  (forall i j, (i <= j <= n + 1)%nat -> x i <= x j) -> (1 <= m <= n)%nat ->
  envelope beta (fun r => - x (n + 1 - r)%nat) n (n + 1 - m) = envelope beta x n m.
Proof.
  intros beta x n m Hb Hx Hm. rewrite !envelope_exact; trivial; try lia.
  - apply Rle_antisym; (apply greatest_below; [apply greatest_nonnegative|]);
    intros u Hu; apply in_map_iff in Hu; destruct Hu as ((i, j) & <- & Hij);
    apply in_pairs in Hij; simpl; apply greatest_above, in_map_iff;
    exists (n + 1 - j, n + 1 - i)%nat; rewrite in_pairs; (split; [|lia]); unfold pair_value; simpl.
    + replace (n + 1 - i - (n + 1 - j) - 1)%nat with (j - i - 1)%nat by lia. ring.
    + replace (n + 1 - i - (n + 1 - j) - 1)%nat with (j - i - 1)%nat by lia.
      replace (n + 1 - (n + 1 - i))%nat with i by lia.
      replace (n + 1 - (n + 1 - j))%nat with j by lia. ring.
  - intros i j Hij. apply Ropp_le_contravar, Hx. lia.
Qed.

(* The premises hold of the ranks themselves: 0, 1 and 2 as the values of one row and the bounds. *)
Example envelope_of_one : envelope 1 INR 1 1 = 1.
Proof.
  rewrite envelope_exact by (lra || lia || (intros; apply le_INR; lia)).
  unfold greatest_pair, pairs, pair_value. simpl.
  replace (- (1) * 0) with 0 by ring. replace (- (1) * 1) with (- (1)) by ring.
  rewrite exp_0, exp_Ropp. pose proof (exp_ineq1_le 1) as H. assert (/ exp 1 <= / 2).
  { apply Rinv_le_contravar; lra. }
  unfold Rmax. repeat destruct (Rle_dec _ _); lra.
Qed.
