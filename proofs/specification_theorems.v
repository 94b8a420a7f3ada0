(* The specification says what the proofs are about, in whole numbers. *)

From Coq Require Import Reals ZArith Lra Lia List Bool Sorted.
From Dpfast Require Import distributions specification.
From Dpfast Require interpolated_rank order_statistics smooth_replace smooth_add_remove.
Import ListNotations.
Module R := interpolated_rank.
Module O := order_statistics.
Module S := smooth_replace.
Module A := smooth_add_remove.
Open Scope Z_scope.

(* ---- Random choices *)

Lemma sum_of_cons : forall (A : Type) (f : A -> Z) x l, sum_of f (x :: l) = f x + sum_of f l.
Proof. reflexivity. Qed.

(* Of csrc/noise/choice.h: candidate i is chosen by the points from the sum of all weights before it
   on, as many as its own weight. *)
Theorem chosen_by_weight : forall (A : Type) (weighted : list (A * Z)) i x weight point,
  (forall y w, In (y, w) weighted -> 0 <= w) ->
  nth_error weighted i = Some (x, weight) ->
  let before := sum_of snd (firstn i weighted) in
  before <= point < before + weight -> chosen weighted point = Some x.
Proof.
  induction weighted as [|[y w] rest IH]; intros [|i] x weight point Hw H before Hp;
    try discriminate; unfold before in *; clear before; cbn [nth_error firstn chosen] in *.
  - injection H as -> ->. cbn in Hp. destruct (Z.ltb_spec point weight); [reflexivity|lia].
  - rewrite sum_of_cons in Hp. cbn [snd] in Hp.
    assert (G : forall l i, (forall z v, In (z, v) l -> 0 <= v) ->
      0 <= sum_of (@snd A Z) (firstn i l)).
    { induction l as [|[z v] l G]; intros [|k] H0; try easy. cbn [firstn]. rewrite sum_of_cons.
      specialize (G k (fun u t I => H0 u t (or_intror I))). specialize (H0 z v (or_introl eq_refl)).
      cbn. lia. }
    specialize (G rest i (fun z v I => Hw z v (or_intror I))).
    destruct (Z.ltb_spec point w); [lia|].
    apply (IH i x weight); [intros z v I; apply (Hw z); now right | exact H | lia].
Qed.

(* ---- Interpolated ranks *)

(* The node of the proofs, in real numbers. *)
Definition real_node (n : node) : R.node :=
  R.Node (low n) (high n) (IZR (numerator n) / IZR (denominator n)) (ties n)
    (R.near_of (IZR (share n) / IZR million))
    (fun m => IZR (numerator n) / IZR (denominator n) * m + IZR (shift n) / IZR (rank n))%R.

(* Its rows: those on the cells of the node, each with its mass. *)
Definition in_node (n : node) (x : Z) : bool := (low n <=? x) && (x <=? high n).

Definition real_rows (n : node) (l : list Z) : list R.row :=
  map (fun x => (x, IZR (mass n x) / IZR (parts n))%R) (filter (in_node n) l).

(* Units in which all is whole. *)
Definition is_whole (n : node) : Prop :=
  low n < high n /\ 0 < parts n /\ 0 < denominator n /\ 0 < rank n /\
  (2 | rank n) /\ (denominator n * parts n | rank n).

Lemma floor_div : forall a b, 0 < b -> R.floor (IZR a / IZR b) = a / b.
Proof.
  intros a b Hb. apply R.floor_unique. pose proof (Z.div_mod a b ltac:(lia)) as E.
  pose proof (Z.mod_pos_bound a b Hb) as [M1 M2]. set (k := a / b) in *. set (s := a mod b) in *.
  assert (0 < IZR b)%R by now apply IZR_lt. assert (IZR a / IZR b = IZR k + IZR s / IZR b)%R as ->.
  { rewrite E, plus_IZR, mult_IZR. field. lra. }
  apply IZR_le in M1. apply IZR_lt in M2. split.
  - assert (0 <= IZR s / IZR b)%R by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
    lra.
  - apply Rplus_lt_compat_l. apply Rmult_lt_reg_r with (IZR b); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma real_max : forall u v, IZR (Z.max u v) = Rmax (IZR u) (IZR v).
Proof.
  intros u v. unfold Rmax. destruct (Rle_dec _ _) as [H%le_IZR|H%Rnot_le_lt%lt_IZR]; f_equal; lia.
Qed.

(* Takes all comparisons apart. *)
Ltac compare :=
  repeat match goal with
  | |- context [?u <=? ?v] => destruct (Z.leb_spec u v)
  | |- context [?u <? ?v] => destruct (Z.ltb_spec u v)
  | |- context [?u =? ?v] => destruct (Z.eqb_spec u v)
  end; try lia.

Section Node.

Variable n : node.
Hypothesis whole : is_whole n.

Lemma positive : (IZR (rank n) <> 0 /\ IZR (parts n) <> 0 /\ IZR (denominator n) <> 0)%R.
Proof. destruct whole as (_ & ? & ? & ? & _). repeat split; apply not_0_IZR; lia. Qed.

Lemma real_parts : forall m, IZR (of_parts n m) = (IZR (rank n) * (IZR m / IZR (parts n)))%R.
Proof.
  intros m. destruct positive as (_ & P & _). unfold of_parts. rewrite mult_IZR.
  destruct whole as (_ & ? & ? & _ & _ & k & E).
  rewrite E, Z.mul_assoc, Z.div_mul by lia. rewrite !mult_IZR. field. exact P.
Qed.

Lemma real_half : IZR (rank n) = (2 * IZR (half_rank n))%R.
Proof.
  destruct whole as (_ & _ & _ & _ & [k E] & _). unfold half_rank.
  rewrite E, Z.div_mul by lia. rewrite mult_IZR. lra.
Qed.

Lemma real_total : forall (p : Z -> bool) l,
  total (fun r => if p (fst r) then snd r else 0)%R (real_rows n l) =
  (IZR (sum_of (fun x => if p x then mass n x else 0%Z) l) / IZR (parts n))%R.
Proof.
  intros p. destruct positive as (_ & P & _). induction l as [|x l IH]; [cbn; field; exact P|].
  unfold real_rows, sum_of in *. cbn [filter map sum fold_right].
  change (fold_right Z.add 0) with sum. rewrite plus_IZR.
  assert (out : in_node n x = false -> mass n x = 0).
  { unfold in_node, mass. intros E. destruct whole.
    destruct (Z.ltb_spec x (low n)); [reflexivity|]. destruct (Z.eqb_spec x (low n)); [lia|].
    destruct (Z.ltb_spec x (high n)); [lia|]. destruct (Z.eqb_spec x (high n)); lia. }
  destruct (in_node n x) eqn:E; cbn [map total fst snd]; rewrite IH.
  - destruct (p x); field; exact P.
  - rewrite (out eq_refl). destruct (p x); field; exact P.
Qed.

Lemma real_rows_on : forall o l, low n <= o <= high n ->
  R.rows_on o (real_rows n l) = count (fun x => x =? o) l.
Proof.
  intros o l Ho. induction l as [|x l IH]; [reflexivity|].
  unfold real_rows, count, sum_of in *. cbn [filter map sum fold_right].
  change (fold_right Z.add 0) with sum. unfold in_node at 1.
  destruct (Z.eqb_spec x o) as [->|Hx]; cbn [Z.b2z].
  - replace (_ && _) with true by lia. cbn [map]. unfold R.rows_on in *. cbn [fold_right fst].
    rewrite Z.eqb_refl, IH. lia.
  - destruct (_ && _); cbn [map]; unfold R.rows_on in *; cbn [fold_right fst];
    [replace (x =? o) with false by lia|]; rewrite IH; lia.
Qed.

Lemma real_next : forall o l, low n <= o <= high n ->
  let a := largest (low n) (filter (fun x => (low n <? x) && (x <? o)) l) in
  let b := smallest (high n) (filter (fun x => (o <? x) && (x <? high n)) l) in
  (low n <= a /\ b <= high n) /\
  R.next_below (real_node n) o (real_rows n l) = a /\
  R.next_above (real_node n) o (real_rows n l) = b.
Proof.
  intros o l Ho. unfold R.next_below, R.next_above, real_rows, in_node, largest, smallest.
  cbn [R.first R.last real_node]. induction l as [|x l IH]; [cbn; lia|]. cbn zeta in *.
  cbn [filter]. compare; cbn [andb map fold_right fst]; compare; lia.
Qed.

Definition real : list R.row := real_rows n (rows n).

Lemma real_share : forall a k,
  R.floor (2 * (IZR a / IZR (denominator n)) * IZR k) = 2 * k * a / denominator n.
Proof.
  intros a k. destruct positive as (_ & _ & D). destruct whole as (_ & _ & ? & _).
  rewrite <- floor_div by assumption. f_equal. rewrite !mult_IZR. field. exact D.
Qed.

Lemma real_side : forall o, low n <= o <= high n -> R.gap_halves (real_node n) o real = side n o.
Proof.
  intros o Ho. unfold R.gap_halves, side, near, real.
  destruct (real_next o (rows n) Ho) as [_ [-> ->]].
  change (largest _ _) with (before n o). change (smallest _ _) with (after n o).
  cbn [R.near real_node]. unfold R.near_of.
  replace (IZR (share n) / IZR million * IZR (after n o - before n o))%R
    with (IZR (share n * (after n o - before n o)) / IZR million)%R.
  - rewrite floor_div; reflexivity.
  - rewrite mult_IZR. unfold million. field.
Qed.

Lemma real_below : forall o,
  IZR (below n o) = (IZR (start n) + IZR (rank n) * R.mass_below o real)%R.
Proof.
  intros o. unfold below, R.mass_below, real. rewrite plus_IZR, real_parts.
  now rewrite (real_total (fun x => x <? o)).
Qed.

Lemma real_on : forall o, IZR (mass_on n o) = (IZR (rank n) * R.mass_on o real)%R.
Proof.
  intros o. unfold mass_on, R.mass_on, real. rewrite real_parts.
  now rewrite (real_total (fun x => x =? o)).
Qed.

Lemma parts_divide : forall m, of_parts n (parts n * m) = rank n * m.
Proof.
  intros m. unfold of_parts. destruct whole as (_ & P & _ & _ & _ & k & K).
  assert (rank n / parts n = k * denominator n) as -> by (rewrite K, Z.mul_assoc, Z.div_mul; lia).
  rewrite K. ring.
Qed.

(* Sums over all rows of the column agree if they do for each row. *)
Ltac each_row :=
  pose proof (proj1 whole); unfold count; induction (rows n) as [|x l IH]; [cbn; lia|];
  rewrite !sum_of_cons; unfold mass_outside, mass in *; compare; cbn [Z.b2z]; lia.

Lemma whole_rows : forall o, low n < o < high n -> mass_on n o = rank n * rows_on n o.
Proof.
  intros o Ho. unfold mass_on, rows_on. rewrite <- parts_divide. f_equal. each_row.
Qed.

Lemma real_positions : forall o, low n <= o <= high n ->
  IZR (lowest n o) = (IZR (start n) + IZR (rank n) * R.lowest (real_node n) o real)%R /\
  IZR (highest n o) = (IZR (start n) + IZR (rank n) * R.highest (real_node n) o real)%R.
Proof.
  intros o Ho. unfold lowest, highest, R.lowest, R.highest, is_gap, R.short_halves.
  change (R.is_end (real_node n) o) with (is_end n o).
  unfold real at 2 5. rewrite real_side by assumption. fold real.
  assert (E : R.rows_on o real = rows_on n o) by now apply real_rows_on.
  rewrite E. destruct (is_end n o) eqn:End; cbn [negb andb].
  - rewrite plus_IZR, real_below, real_on. split; ring.
  - assert (Hi : low n < o < high n) by (unfold is_end in End; lia). destruct (rows_on n o =? 0).
    + rewrite plus_IZR, mult_IZR, real_below, real_half. split; field.
    + cbn [R.fraction R.ties real_node].
      replace (1 - IZR (numerator n) / IZR (denominator n))%R
        with (IZR (denominator n - numerator n) / IZR (denominator n))%R.
      * rewrite !real_share. unfold lacks_below, lacks_above, tied.
        rewrite !minus_IZR, !plus_IZR, whole_rows by assumption.
        rewrite !mult_IZR, real_below, real_half. split; field.
      * rewrite minus_IZR. field. apply positive.
Qed.

Lemma real_target :
  IZR (target n) = (IZR (start n) + IZR (rank n) * R.target (real_node n) (R.mass real))%R.
Proof.
  destruct positive as (K & P & D). unfold target, R.mass. cbn [R.target real_node].
  assert (E : total snd real = (IZR (sum_of (mass n) (rows n)) / IZR (parts n))%R).
  { unfold real. rewrite <- (real_total (fun _ => true)). apply total_equal. reflexivity. }
  rewrite E, !plus_IZR, !mult_IZR. destruct whole as (_ & ? & ? & ? & _ & k & W).
  assert (rank n / (denominator n * parts n) = k) as ->
    by (rewrite W; apply Z.div_mul, Z.neq_mul_0; lia).
  assert (IZR (rank n) = IZR k * (IZR (denominator n) * IZR (parts n)))%R as ->
    by now rewrite W, !mult_IZR.
  assert (IZR k <> 0)%R by (apply not_0_IZR; intros ->; lia). field. auto.
Qed.

(* What a row on x that is counted up to o has below the node and in it. *)
Lemma below_rows : forall o, low n < o <= high n -> below n o = rank n * rows_below n o.
Proof.
  intros o Ho. unfold below, start, rows_below. rewrite <- parts_divide.
  unfold of_parts. rewrite <- Z.mul_add_distr_l. f_equal. each_row.
Qed.

Lemma low_rows :
  below n (low n) = rank n * rows_below n (low n) + of_parts n (rows_on n (low n) * low_part n) /\
  mass_on n (low n) = of_parts n (rows_on n (low n) * (parts n - low_part n)).
Proof.
  unfold below, start, mass_on, rows_below, rows_on. rewrite <- parts_divide.
  unfold of_parts. rewrite <- !Z.mul_add_distr_l. split; f_equal; each_row.
Qed.

Lemma high_rows : mass_on n (high n) = of_parts n (rows_on n (high n) * high_part n).
Proof. unfold mass_on, rows_on, of_parts. f_equal. each_row. Qed.

(* The part of a cell as a fraction of the rows on it that are in the node. *)
Definition part_fraction (o part : Z) : R :=
  (IZR (part - first_part n o) / IZR (parts_of n o))%R.

Lemma real_position : forall o part, low n <= o <= high n ->
  0 <= low_part n <= parts n -> 0 <= high_part n <= parts n ->
  first_part n o <= part < first_part n o + parts_of n o ->
  IZR (position n o part) =
  (IZR (start n) + IZR (rank n) * R.position (real_node n) (o, part_fraction o part) real)%R.
Proof.
  intros o part Ho Hl Hh Hp. unfold position, R.position. cbn [fst snd].
  change (R.is_end (real_node n) o) with (is_end n o).
  assert (E : R.rows_on o real = rows_on n o) by now apply real_rows_on.
  unfold is_gap, part_fraction, first_part, parts_of in *. rewrite E.
  assert (N : forall k, 1 <= k -> (IZR k <> 0)%R) by (intros; apply not_0_IZR; lia).
  destruct positive as (_ & P & _). destruct whole as (Lh & P0 & _).
  destruct (is_end n o) eqn:End; cbn [negb andb].
  - rewrite Rmult_plus_distr_l, <- Rplus_assoc, <- real_below.
    replace (IZR (rank n) * (_ * R.mass_on o real))%R with
      (IZR (part - (if o =? low n then low_part n else 0)) / IZR (if o =? low n then Z.max 1
        (parts n - low_part n) else if o =? high n then Z.max 1 (high_part n) else
        if is_gap n o then 1 else parts n) * IZR (mass_on n o))%R
      by (unfold is_gap; rewrite End, real_on; cbn [negb andb]; ring).
    unfold is_end in End. destruct (Z.eqb_spec o (low n)) as [->|Hne].
    + destruct low_rows as [-> ->]. rewrite !plus_IZR, !real_parts, !mult_IZR, !minus_IZR.
      destruct (Z.eq_dec (low_part n) (parts n)) as [F|F].
      * assert (part = low_part n) as -> by lia. rewrite F, Z.sub_diag. cbn. field. exact P.
      * rewrite Z.max_r, minus_IZR by lia. field. split; [exact P|].
        rewrite <- minus_IZR. apply N. lia.
    + assert (o = high n) as -> by lia. rewrite Z.eqb_refl in *.
      rewrite below_rows, high_rows by lia. rewrite !plus_IZR, !real_parts, !mult_IZR, !minus_IZR.
      destruct (Z.eq_dec (high_part n) 0) as [F|F].
      * assert (part = 0) as -> by lia. rewrite F. cbn. field. exact P.
      * rewrite Z.max_r by lia. field. split; [exact P|]. apply N. lia.
  - assert (Hi : low n < o < high n) by (unfold is_end in End; lia).
    replace (o =? low n) with false in * by lia. replace (o =? high n) with false in * by lia.
    destruct (rows_on n o =? 0) eqn:K.
    + destruct (real_positions o Ho) as [-> _]. unfold R.lowest.
      change (R.is_end (real_node n) o) with (is_end n o). rewrite End, E, K. reflexivity.
    + assert (is_gap n o = false) as -> by (unfold is_gap; now rewrite End, K).
      rewrite !plus_IZR, real_parts, real_below, real_half, !mult_IZR, !minus_IZR. field. exact P.
Qed.

Lemma real_distance : forall s k t a b, (0 < k)%R ->
  forall t' a' b', IZR t' = (s + k * t)%R -> IZR a' = (s + k * a)%R -> IZR b' = (s + k * b)%R ->
  IZR (distance t' a' b') = (k * R.distance a b t)%R.
Proof.
  intros s k t a b Hk t' a' b' T A B. unfold distance, R.distance.
  rewrite !real_max, !minus_IZR, T, A, B, <- !RmaxRmult by lra. f_equal; [ring|]. f_equal; ring.
Qed.

End Node.

(* Of csrc/statistics/draw.h: the u of a candidate, as the specification has it in whole numbers and
   as the kernel computes it, is minus the utility of which the privacy is proved. *)
Theorem specified_utility : forall n o part, is_whole n -> low n <= o <= high n ->
  divides n = false ->
  IZR (distance_of n o part) =
  (IZR (rank n) * - R.utility (real_node n) (real n) o)%R.
Proof.
  intros n o part W Ho Hd. unfold distance_of, R.utility. rewrite Hd. cbn [andb].
  rewrite Ropp_involutive. destruct (real_positions n W o Ho) as [L H].
  apply real_distance with (s := IZR (start n)); try assumption.
  - apply IZR_lt. apply W.
  - now apply real_target.
Qed.

(* Of csrc/statistics/draw.h: so it is where a node is divided, of a cell and a part. *)
Theorem specified_utility_divided : forall n o part, is_whole n -> low n <= o <= high n ->
  0 <= low_part n <= parts n -> 0 <= high_part n <= parts n -> divides n = true ->
  first_part n o <= part < first_part n o + parts_of n o ->
  IZR (distance_of n o part) =
  (IZR (rank n) * - R.utility_divided (real_node n) (real n) (o, part_fraction n o part))%R.
Proof.
  intros n o part W Ho Hl Hh Hd Hp. unfold distance_of, R.utility_divided. rewrite Hd. cbn [andb].
  rewrite Ropp_involutive. pose proof (real_position n W o part Ho Hl Hh Hp) as E.
  assert (0 < IZR (rank n))%R by (apply IZR_lt; apply W).
  pose proof (real_target n W) as T. destruct (is_gap n o) eqn:G; cbn [negb].
  - destruct (real_positions n W o Ho) as [L H']. unfold is_gap in G.
    assert (P : position n o part = lowest n o /\ lowest n o = highest n o).
    { unfold position, lowest, highest, is_gap. destruct (is_end n o); [discriminate|].
      cbn [negb andb] in *. now rewrite G. }
    destruct P as [P <-]. rewrite P in E. now apply real_distance with (s := IZR (start n)).
  - now apply real_distance with (s := IZR (start n)).
Qed.

(* ---- Smooth sensitivity *)

Lemma in_number : forall (A : Type) (l : list A) first i v,
  In (i, v) (number first l) <-> exists k, i = first + Z.of_nat k /\ nth_error l k = Some v.
Proof.
  induction l as [|u l IH]; intros first i v; cbn [number In].
  - split; [easy|]. now intros ([|k] & _ & H).
  - rewrite IH. split.
    + intros [[= -> ->]|(k & -> & H)]; [exists 0%nat | exists (S k)]; split; trivial; lia.
    + intros ([|k] & -> & H); cbn in H; [left; f_equal; [lia|congruence] | right; exists k].
      split; [lia|exact H].
Qed.

Lemma real_largest : forall l, IZR (largest 0 l) = S.greatest (map IZR l).
Proof.
  induction l as [|u l IH]; [reflexivity|]. cbn [map].
  change (IZR (Z.max u (largest 0 l)) = Rmax (IZR u) (S.greatest (map IZR l))).
  now rewrite <- IH, real_max.
Qed.

(* What a column of ascending rows between the bounds has as order statistics. *)
Lemma real_ranks : forall lo hi column, StronglySorted Z.le column ->
  Forall (fun v => lo <= v <= hi) column -> forall k v,
  nth_error (lo :: map (clamp lo hi) column ++ [hi]) k = Some v ->
  (k <= length column + 1)%nat /\
  O.order_statistic (IZR lo) (IZR hi) (map IZR column) k = IZR v.
Proof.
  intros lo hi column Hs Hb k v H. assert (E : map (clamp lo hi) column = column).
  { rewrite <- (map_id column) at 2. apply map_ext_Forall.
    apply Forall_impl with (2 := Hb). unfold clamp. intros. lia. }
  assert (F : O.sort (map IZR column) = map IZR column).
  { clear - Hs. induction Hs as [|u l Hl IH Hu]; [reflexivity|]. cbn. unfold O.sort in IH.
    rewrite IH. destruct l as [|t l]; [reflexivity|]. cbn.
    destruct (Rle_dec _ _) as [|n]; [reflexivity|]. destruct n. apply IZR_le. now inversion Hu. }
  rewrite E in H. unfold O.order_statistic. rewrite F. split.
  - assert (k < length (lo :: column ++ [hi]))%nat by (apply nth_error_Some; congruence).
    cbn in *. rewrite app_length in *. cbn in *. lia.
  - destruct k as [|k]; cbn in *; [congruence|].
    destruct (Nat.lt_ge_cases k (length column)) as [L|L].
    + rewrite nth_error_app1 in H by exact L. rewrite map_nth with (d := hi).
      now rewrite (nth_error_nth _ _ hi H).
    + rewrite nth_overflow by now rewrite map_length. rewrite nth_error_app2 in H by exact L.
      destruct (k - length column)%nat as [|[|]]; cbn in H; congruence.
Qed.

Lemma scaled_greatest : forall unit l v, (0 <= v)%R -> (forall u, In u l -> (unit * u <= v)%R) ->
  (unit * S.greatest l <= v)%R.
Proof.
  induction l as [|u l IH]; intros v Hv H; cbn; [lra|]. unfold Rmax.
  destruct (Rle_dec _ _); [apply IH; [exact Hv|]; intros; apply H; now right | apply H; now left].
Qed.

Section Pairs.

(* A column of ascending rows between bounds, weights in a unit, and the pairs that count. *)
Variables (lo hi : Z) (column weights : list Z) (beta unit : R).
Variables (counts : Z -> Z -> bool) (D : Z -> Z -> Z) (d : nat -> nat -> nat).
Variable pairs : list (nat * nat).
Let x := O.order_statistic (IZR lo) (IZR hi) (map IZR column).

Lemma real_best_pair : StronglySorted Z.le column -> Forall (fun v => lo <= v <= hi) column ->
  (0 <= unit)%R ->
  (forall i j, In (i, j) pairs <->
    (i < j <= length column + 1)%nat /\ counts (Z.of_nat i) (Z.of_nat j) = true) ->
  (forall i j, In (i, j) pairs -> D (Z.of_nat i) (Z.of_nat j) = Z.of_nat (d i j) /\
    IZR (at_distance weights (Z.of_nat (d i j))) = (unit * exp (- beta * INR (d i j)))%R) ->
  IZR (best_pair counts D weights (ranked lo hi column)) =
  (unit * S.greatest (map (fun ij => (x (snd ij) - x (fst ij)) *
    exp (- beta * INR (d (fst ij) (snd ij)))) pairs))%R.
Proof.
  intros Hs Hb Hu HP HD. unfold best_pair. rewrite real_largest.
  assert (P : forall i j xi xj, In (i, j) pairs ->
    nth_error (lo :: map (clamp lo hi) column ++ [hi]) i = Some xi ->
    nth_error (lo :: map (clamp lo hi) column ++ [hi]) j = Some xj ->
    IZR ((xj - xi) * at_distance weights (D (Z.of_nat i) (Z.of_nat j))) =
    (unit * ((x j - x i) * exp (- beta * INR (d i j))))%R).
  { intros i j xi xj H Hi Hj. apply real_ranks in Hi, Hj; trivial. destruct (HD i j H) as [-> W].
    unfold x. rewrite mult_IZR, minus_IZR, W, (proj2 Hi), (proj2 Hj). ring. }
  apply Rle_antisym.
  - assert (N : (0 <= unit * S.greatest (map (fun ij => (x (snd ij) - x (fst ij)) *
      exp (- beta * INR (d (fst ij) (snd ij)))) pairs))%R)
      by (apply Rmult_le_pos; [exact Hu | apply S.greatest_nonnegative]).
    apply S.greatest_below; [exact N|]. intros u (z & <- & H)%in_map_iff.
    apply in_flat_map in H. destruct H as ([i xi] & Hi & H).
    apply in_map_iff in H. destruct H as ([j xj] & <- & Hj).
    apply in_number in Hi, Hj. destruct Hi as (i' & -> & Hi), Hj as (j' & -> & Hj).
    rewrite !Z.add_0_l. destruct (_ && _) eqn:E; [|exact N]. apply andb_prop in E.
    destruct E as [L C]. pose proof (proj1 (real_ranks lo hi column Hs Hb j' xj Hj)).
    assert (I : In (i', j') pairs) by (apply HP; split; [lia|exact C]).
    rewrite (P i' j') by assumption. apply Rmult_le_compat_l; [exact Hu|].
    apply S.greatest_above. apply in_map_iff. now exists (i', j').
  - apply scaled_greatest; [apply S.greatest_nonnegative|].
    intros u ([i j] & <- & H)%in_map_iff. cbn [fst snd].
    assert (N : forall k, (k <= length column + 1)%nat ->
      exists v, nth_error (lo :: map (clamp lo hi) column ++ [hi]) k = Some v).
    { intros k Hk. destruct (nth_error _ k) as [v|] eqn:E; [now exists v|].
      apply nth_error_None in E. cbn in E. rewrite app_length, map_length in E. cbn in E. lia. }
    pose proof (proj1 (HP i j) H) as [L C].
    destruct (N i ltac:(lia)) as (xi & Hi), (N j ltac:(lia)) as (xj & Hj).
    rewrite <- (P i j xi xj) by assumption. apply S.greatest_above, in_map, in_flat_map.
    exists (Z.of_nat i, xi). split; [apply in_number; now exists i|]. apply in_map_iff.
    exists (Z.of_nat j, xj). split; [|apply in_number; now exists j]. rewrite C.
    now replace (Z.of_nat i <? Z.of_nat j) with true by lia.
Qed.

End Pairs.

(* Of csrc/sensitivity/envelope.h: the greatest value of a pair of ranks, as the specification has
   it with weights in whole numbers, is the smooth sensitivity that is proved. *)
Theorem specified_smooth_replace : forall lo hi column m weights beta unit,
  StronglySorted Z.le column -> Forall (fun v => lo <= v <= hi) column ->
  (1 <= m <= length column)%nat -> (0 <= unit)%R ->
  (forall k, (k <= length column)%nat ->
    IZR (at_distance weights (Z.of_nat k)) = (unit * exp (- beta * INR k))%R) ->
  IZR (smooth_replace (Z.of_nat m) weights (ranked lo hi column)) =
  (unit * S.smooth_sensitivity (IZR lo) (IZR hi) (length column) m beta (map IZR column))%R.
Proof.
  intros lo hi column m weights beta unit Hs Hb Hm Hu Hw. unfold smooth_replace.
  rewrite real_best_pair with (d := fun i j => (j - i - 1)%nat) (beta := beta) (unit := unit)
    (pairs := S.pairs (length column) m); trivial.
  - intros i j. unfold S.pairs. rewrite filter_In, in_prod_iff, !in_seq. cbn [fst snd].
    rewrite Nat.ltb_lt, andb_true_iff, !Z.leb_le. lia.
  - intros i j H. unfold S.pairs in H. rewrite filter_In, in_prod_iff, !in_seq in H.
    cbn [fst snd] in H. rewrite Nat.ltb_lt in H. split; [lia|]. apply Hw. lia.
Qed.

Lemma same_rank : forall p r n, (0 < r)%nat -> (p <= r)%nat -> (1 <= n)%nat ->
  rank_of (Z.of_nat p) (Z.of_nat r) (Z.of_nat n) = Z.of_nat (A.quantile_rank p r n).
Proof.
  intros p r n Hr Hp Hn. unfold rank_of, A.quantile_rank. destruct n as [|n]; [lia|].
  rewrite Nat2Z.inj_min, Nat2Z.inj_max, Nat2Z.inj_div, Nat2Z.inj_add, Nat2Z.inj_mul.
  rewrite Nat2Z.inj_sub by lia. set (a := Z.of_nat p * Z.of_nat (S n)).
  assert (a <= Z.of_nat r * Z.of_nat (S n)) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (E : - (- a / Z.of_nat r) = (a + (Z.of_nat r - Z.of_nat 1)) / Z.of_nat r).
  { apply Z.div_unique with (r := Z.of_nat r - 1 - (- a) mod Z.of_nat r).
    - pose proof (Z.mod_pos_bound (- a) (Z.of_nat r)). lia.
    - pose proof (Z.div_mod (- a) (Z.of_nat r)). lia. }
  rewrite E. assert ((a + (Z.of_nat r - Z.of_nat 1)) / Z.of_nat r <= Z.of_nat (S n)); [|lia].
  apply Z.lt_succ_r, Z.div_lt_upper_bound; lia.
Qed.

Lemma same_active : forall p r L U, (0 < r)%nat -> (p <= r)%nat ->
  is_active (Z.of_nat p) (Z.of_nat r) (Z.of_nat L) (Z.of_nat U) =
  A.active (A.quantile_rank p r) L U.
Proof.
  intros p r L U Hr Hp. set (m := A.quantile_rank p r).
  destruct (A.quantile_rank_rule p r Hr Hp) as [Rule _]. fold m in Rule.
  pose proof (fun n => A.rank_bounds m n Rule) as B. destruct Rule as (M0 & M1 & M).
  assert (E : forall t n, t = Z.of_nat n -> (1 <= n)%nat ->
    rank_of (Z.of_nat p) (Z.of_nat r) t = Z.of_nat (m n)) by (intros t n -> H; now apply same_rank).
  apply eq_true_iff_eq. rewrite (A.active_true m _ L U eq_refl).
  unfold is_active, is_above_gap. cbn [existsb]. destruct (L + U)%nat as [|n] eqn:N.
  - replace (Z.of_nat L + Z.of_nat U =? 0) with true by lia. rewrite M1. split; [lia | easy].
  - rewrite (E (Z.of_nat L + Z.of_nat U) (S n)), (E (Z.of_nat L + 1 + Z.of_nat U) (S (S n))),
      (E (Z.of_nat L + (Z.of_nat U + 1)) (S (S n))) by lia. cbn [pred].
    pose proof (M n). pose proof (M (S n)). pose proof (B n). pose proof (B (S n)).
    destruct n as [|n].
    + assert (m 0 = 0 /\ m 2 = 1 \/ m 0 = 1 /\ m 2 = 2)%nat.
      { unfold m, A.quantile_rank. clear - Hr Hp. destruct (Nat.leb_spec (2 * p) r).
        - left. split; [reflexivity|]. assert ((p * 2 + (r - 1)) / r <= 1)%nat; [|lia].
          apply Nat.lt_succ_r, Nat.div_lt_upper_bound; lia.
        - right. split; [reflexivity|]. assert (2 <= (p * 2 + (r - 1)) / r)%nat; [|lia].
          apply Nat.div_le_lower_bound; lia. }
      rewrite M1 in *. clear E M B.
      assert (L = 0 /\ U = 1 \/ L = 1 /\ U = 0)%nat as [[-> ->]|[-> ->]] by lia;
      destruct H3 as [[-> ->]|[-> ->]]; cbn; intuition discriminate.
    + rewrite (E (Z.of_nat L - 1 + Z.of_nat U) (S n)), (E (Z.of_nat L + (Z.of_nat U - 1)) (S n))
        by lia. clear E M B.
      assert (X : forall a b, xorb a b = a && negb b || negb a && b) by now intros [] [].
      rewrite !X. lia.
Qed.

Lemma smallest_at_most : forall most l v,
  smallest most l <= v <-> most <= v \/ exists u, In u l /\ u <= v.
Proof.
  induction l as [|u l IH]; intros v; cbn; [split; [now left|]; now intros [H|(u & [] & _)]|].
  unfold smallest in IH. rewrite Z.min_le_iff, IH. split.
  - intros [H|[H|(w & Hw & H)]]; [right; exists u; auto | now left | right; exists w; auto].
  - intros [H|(w & [->|Hw] & H)]; [auto | now left | right; right; now exists w].
Qed.

(* The numbers of rows above and below gaps that the specification looks at. *)
Definition enough (n : nat) (numbers : list Z) : Prop :=
  (forall v, In v numbers -> 0 <= v) /\
  forall k, (k <= 2 * n + 2)%nat -> In (Z.of_nat k) numbers.

Lemma same_distance : forall p r n numbers i j, (0 < r)%nat -> (p <= r)%nat ->
  (i < j <= n + 1)%nat -> enough n numbers ->
  pair_distance (Z.of_nat n) (active (Z.of_nat p) (Z.of_nat r) numbers) (Z.of_nat i) (Z.of_nat j) =
  Z.of_nat (A.distance p r n (i, j)).
Proof.
  intros p r n numbers i j Hr Hp Hij [Pos Many].
  destruct (A.quantile_rank_rule p r Hr Hp) as [Rule Sparse]. unfold A.distance. cbn [fst snd].
  set (pairs := active (Z.of_nat p) (Z.of_nat r) numbers).
  assert (P : forall L U, In (L, U) pairs <-> In L numbers /\ In U numbers /\
    is_active (Z.of_nat p) (Z.of_nat r) L U = true).
  { intros L U. unfold pairs, active. rewrite filter_In, in_flat_map. split.
    - intros [(L' & HL & H) E]. apply in_map_iff in H. destruct H as (U' & [= -> ->] & HU). auto.
    - intros (HL & HU & E). split; [|exact E]. exists L. split; [exact HL|]. now apply in_map. }
  assert (Same : forall k, pair_distance (Z.of_nat n) pairs (Z.of_nat i) (Z.of_nat j) <= Z.of_nat k
    <-> (A.pair_distance (A.quantile_rank p r) n i j <= k)%nat).
  { intros k. rewrite <- A.pair_distance_reachable by assumption. unfold pair_distance, A.reachable.
    transitivity (smallest (Z.of_nat i + Z.of_nat n + 1 - Z.of_nat j) (map (fun '(L, U) =>
      Z.abs (L - Z.of_nat i) + Z.abs (U - (Z.of_nat n + 1 - Z.of_nat j))) pairs) <=
      Z.of_nat k - (Z.of_nat j - Z.of_nat i - 1)); [lia|]. rewrite smallest_at_most.
    unfold A.apart. split.
    - intros [H|(u & Hu & H)].
      + exists 0%nat, 0%nat. split; [now rewrite <- same_active|]. lia.
      + apply in_map_iff in Hu. destruct Hu as ([L U] & <- & Hu). apply P in Hu.
        destruct Hu as (HL & HU & E). exists (Z.to_nat L), (Z.to_nat U).
        apply Pos in HL, HU. split; [|lia]. now rewrite <- same_active, !Z2Nat.id by assumption.
    - intros (L & U & E & H).
      destruct (Nat.le_gt_cases L (2 * n + 2)), (Nat.le_gt_cases U (2 * n + 2));
        try (left; lia). right. eexists. split; [|shelve]. apply in_map_iff.
      exists (Z.of_nat L, Z.of_nat U). split; [reflexivity|]. apply P.
      rewrite same_active by assumption. auto. Unshelve. lia. }
  assert (0 <= pair_distance (Z.of_nat n) pairs (Z.of_nat i) (Z.of_nat j)) as Least.
  { unfold pair_distance. apply Z.add_nonneg_nonneg; [lia|]. clear - Hij. clearbody pairs.
    induction pairs as [|[L U] l IH]; [cbn; lia|]. unfold smallest in *. cbn [map fold_right].
    lia. }
  apply Z.le_antisymm; [now apply Same|].
  rewrite <- (Z2Nat.id _ Least). apply inj_le, Same. now rewrite Z2Nat.id.
Qed.

(* Of csrc/sensitivity/envelope.h: so it is for any quantile when a row is added or removed, with
   the distances of pairs by definition. *)
Theorem specified_smooth_add_remove : forall lo hi column p r numbers weights beta unit,
  StronglySorted Z.le column -> Forall (fun v => lo <= v <= hi) column ->
  (0 < r)%nat -> (p <= r)%nat -> enough (length column) numbers -> (0 <= unit)%R ->
  (forall k, (k <= 2 * length column + 1)%nat ->
    IZR (at_distance weights (Z.of_nat k)) = (unit * exp (- beta * INR k))%R) ->
  IZR (smooth_add_remove (Z.of_nat (length column)) (active (Z.of_nat p) (Z.of_nat r) numbers)
    weights (ranked lo hi column)) =
  (unit * A.quantile_smooth (IZR lo) (IZR hi) p r beta (map IZR column))%R.
Proof.
  intros lo hi column p r numbers weights beta unit Hs Hb Hr Hp Hn Hu Hw.
  unfold smooth_add_remove, A.quantile_smooth, A.gap. rewrite map_length.
  rewrite real_best_pair with (d := fun i j => A.distance p r (length column) (i, j))
    (beta := beta) (unit := unit) (pairs := A.pairs (length column)); trivial.
  - intros i j. rewrite A.in_pairs. cbn [fst snd]. intuition.
  - intros i j H. apply A.in_pairs in H. cbn [fst snd] in H.
    split; [now apply same_distance|]. apply Hw. unfold A.distance.
    apply A.pair_distance_reachable; [apply A.quantile_rank_rule | apply A.quantile_rank_rule | |];
    trivial. exists 0%nat, 0%nat. split; [now rewrite <- same_active|]. cbn [fst snd].
    unfold A.apart. lia.
Qed.

(* Three rows on the cells 2, 2 and 3 of 0 .. 5, with q = 1/2: target rank 1 1/2, in quarters of
   a rank 6, and the positions of all cells. *)
Example positions_of_three_rows :
  let n := Node 1 4 0 0 5 1 1 2 0 262144 0 false [2; 2; 3] in
  is_whole n /\ target n = 6 /\
  map (fun o => (lowest n o, highest n o)) [0; 1; 2; 3; 4; 5] =
    [(0, 0); (0, 0); (2, 6); (10, 10); (12, 12); (12, 12)] /\
  map (fun o => distance_of n o 0) [0; 1; 2; 3; 4; 5] = [6; 6; 0; 4; 6; 6].
Proof.
  repeat split; try reflexivity; try (cbn; lia); [now exists 2 | now exists 2].
Qed.

(* The rows 1, 3 and 9 between 0 and 10 with weights 2^-k, in eighths: 6 2^0 from 3 to 9 is the most
   under replace for the median, and for the maximum under add-remove, too. *)
Example sensitivities_of_three_rows :
  let x := ranked 0 10 [1; 3; 9] in
  smooth_replace 2 [8; 4; 2; 1] x = 48 /\
  smooth_add_remove 3 (active 1 1 [0; 1; 2; 3; 4; 5; 6; 7; 8]) [8; 4; 2; 1] x = 48.
Proof. split; reflexivity. Qed.
