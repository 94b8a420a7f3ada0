(* Sums of integers in words of 64 and 128 bits. *)

From Coq Require Import ZArith Lia List Bool.
From Dpfast Require Import integer_sums.
Import ListNotations.
Open Scope Z_scope.

(* Additions of rows, and of sums of rows, in any order and with any cut. *)
Inductive additions : Type := Row (x : Z) | Plus (l r : additions).

Fixpoint rows_in (t : additions) : list Z :=
  match t with Row x => [x] | Plus l r => rows_in l ++ rows_in r end.

Definition total (t : additions) : Z := sum_of (fun x => x) (rows_in t).

Fixpoint partial_sums (t : additions) : list Z :=
  match t with Row x => [x] | Plus l r => total t :: partial_sums l ++ partial_sums r end.

(* The same additions in words, whose arithmetic is modulo the number of words. *)
Fixpoint wrapped (words : Z) (f : Z -> Z) (t : additions) : Z :=
  match t with
  | Row x => f x mod words
  | Plus l r => (wrapped words f l + wrapped words f r) mod words
  end.

Definition word : Z := 2 ^ 64.

(* The integer from -2^63 to 2^63 - 1 that a word stands for in two's complement. *)
Definition signed (z : Z) : Z := (z + 2 ^ 63) mod word - 2 ^ 63.

(* Of csrc/summaries/quantise_body.h: sums may wrap in between. Their last word is that of the
   total, and is the total if that fits. *)
Theorem wrapping_sums : forall f t, let exact := sum_of f (rows_in t) in
  wrapped word f t = exact mod word /\
  (0 <= exact < 2 ^ 64 -> wrapped word f t = exact) /\
  (- 2 ^ 63 <= exact < 2 ^ 63 -> signed (wrapped word f t) = exact).
Proof.
  intros f t exact. subst exact. assert (E : wrapped word f t = sum_of f (rows_in t) mod word).
  { induction t as [x|l IHl r IHr]; simpl; [now rewrite Z.add_0_r|].
    now rewrite IHl, IHr, sum_app, <- Zplus_mod. }
  rewrite E. repeat split; intros B; [now apply Z.mod_small|].
  unfold signed. rewrite Zplus_mod_idemp_l, Z.mod_small; change word with (2 ^ 64); lia.
Qed.

(* What dpfast adds up in 64 bits: the most that a row adds in size, the most rows, and the log2 of
   what sums stay below: 63, or 64 if they are not negative. *)
Inductive fits : Z -> Z -> Z -> Prop :=
  (* csrc/summaries/quantise.c: cells, and halves of squares or products, of a tile of rows. *)
  | cells_of_a_tile : fits (2 ^ 41) (2 ^ 14) 63
  | halves_of_a_tile : fits (2 ^ 32 - 1) (2 ^ 14) 63
  (* csrc/groups/sums.h: halves of squares of a group. *)
  | halves_of_a_group : fits (2 ^ 32 - 1) (2 ^ 32) 64
  (* dpfast/tables/sql/sums.py: pieces of 23 bits of an integer. *)
  | pieces_in_a_database : fits (2 ^ 23 - 1) (2 ^ 40) 63
  (* dpfast/statistics/histogram.py: parts of rows of units in bins. *)
  | parts_of_rows : fits (2 ^ 20) (2 ^ 42) 63
  (* dpfast/aggregate/aggregators/output_grid.py: outputs of blocks, which float64 adds up, too. *)
  | outputs_of_blocks : forall blocks span, 0 <= blocks -> blocks * span < 2 ^ 53 ->
      fits span blocks 53.

(* Of csrc/summaries/quantise.c, csrc/groups/sums.h, dpfast/tables/sql/sums.py and the others above:
   no sum wraps, in any order of the rows and with any cut, nor does a partial sum on the way. *)
Theorem no_partial_sum_wraps : forall most n bits t, fits most n bits ->
  (forall x, In x (rows_in t) -> - most <= x <= most) -> Z.of_nat (length (rows_in t)) <= n ->
  forall z, In z (partial_sums t) -> - 2 ^ bits < z < 2 ^ bits.
Proof.
  intros most n bits t F B N z I.
  assert (P : 0 <= most) by (clear - B; induction t; simpl in *;
    [specialize (B x (or_introl eq_refl)); lia | apply IHt1; intros; apply B, in_app_iff; auto]).
  enough (- (most * Z.of_nat (length (rows_in t))) <= z <= most * Z.of_nat (length (rows_in t))) by
    (destruct F; nia).
  clear F N n bits. induction t as [x|l IHl r IHr]; cbn [rows_in partial_sums] in *.
  - destruct I as [->|[]]. specialize (B z (or_introl eq_refl)). cbn [length]. lia.
  - destruct I as [<-|I]; [rewrite <- Z.mul_opp_l; apply sum_bounded; intros; now apply B|].
    rewrite app_length, Nat2Z.inj_add. apply in_app_iff in I.
    destruct I as [I|I]; [specialize (IHl (fun u J => B u (in_or_app _ _ _ (or_introl J))) I)
      | specialize (IHr (fun u J => B u (in_or_app _ _ _ (or_intror J))) I)]; nia.
Qed.

(* * Words of 128 bits, and carries *)

(* add() of csrc/summaries/quantise.c: a carry shows in a low word below what was added. *)
Definition add (whole : Z * Z) (low_word high_word : Z) : Z * Z :=
  let sum := (fst whole + low_word) mod word in
  (sum, (snd whole + high_word + if sum <? low_word then 1 else 0) mod word).

Definition integer (whole : Z * Z) : Z := fst whole + word * snd whole.
Definition are_words (whole : Z * Z) : Prop := 0 <= fst whole < word /\ 0 <= snd whole < word.

Lemma carry : forall a b, 0 <= a < word -> 0 <= b < word ->
  a + b = (a + b) mod word + word * (if (a + b) mod word <? b then 1 else 0).
Proof.
  intros a b A B. destruct (Z.ltb_spec ((a + b) mod word) b); unfold word in *;
    Z.div_mod_to_equations; lia.
Qed.

Lemma add_is_modular : forall whole l h, are_words whole -> 0 <= l < word -> 0 <= h < word ->
  are_words (add whole l h) /\
  integer (add whole l h) = (integer whole + l + word * h) mod (word * word).
Proof.
  intros (a, b) l h (A & B) L H. unfold add, integer, are_words in *. cbn [fst snd] in *.
  pose proof (carry a l A L) as C. set (c := if _ <? _ then 1 else 0) in *.
  set (s := (a + l) mod word) in *. assert (S : 0 <= s < word) by now apply Z.mod_pos_bound.
  clearbody c s. split; [split; [easy | now apply Z.mod_pos_bound]|].
  replace (a + word * b + l + word * h) with (s + word * (b + h + c)) by lia.
  unfold word in *. Z.div_mod_to_equations; lia.
Qed.

Lemma sum_within : forall A (f : A -> Z) most n l, (forall x, In x l -> 0 <= f x <= most) ->
  Z.of_nat (length l) <= n -> 0 <= most -> 0 <= sum_of f l <= most * n.
Proof. intros A f most n l B N M. pose proof (sum_bounded _ f 0 most l B). nia. Qed.

(* Of csrc/summaries/quantise_body.h: the words of float64 that are summed are those of cells u plus
   a constant `base`, which is taken off once for all rows; tiles of rows are added up in 128
   bits. Both words together are the exact sum of all cells. *)
Theorem sums_of_cells_are_exact : forall base tiles,
  (forall t u, In t tiles -> In u (rows_in t) -> 0 <= u <= 2 ^ 41) ->
  (forall t, In t tiles -> Z.of_nat (length (rows_in t)) <= 2 ^ 14) ->
  Z.of_nat (length tiles) < 2 ^ 64 ->
  let tile_sum := fun t =>
    (wrapped word (fun u => u + base) t - base * Z.of_nat (length (rows_in t))) mod word in
  integer (fold_left (fun whole t => add whole (tile_sum t) 0) tiles (0, 0)) = sum_of total tiles.
Proof.
  intros base tiles U R T tile_sum.
  assert (E : forall t, In t tiles -> tile_sum t = total t /\ 0 <= total t <= 2 ^ 55).
  { intros t I. unfold tile_sum. rewrite (proj1 (wrapping_sums _ t)), Zminus_mod_idemp_l.
    rewrite (sum_equal _ _ (fun u => 1 * u + 0 * u + base)), sum_linear by (intros; cbv beta; lia).
    assert (0 <= total t <= 2 ^ 41 * 2 ^ 14) by
      (apply sum_within; [intros u; now apply U | auto | lia]).
    fold (total t). split; [|easy].
    etransitivity; [|apply (Z.mod_small _ word); unfold word; lia]. f_equal. lia. }
  assert (S : forall done, are_words done -> integer done + 2 ^ 55 * Z.of_nat (length tiles) <
    word * word -> integer (fold_left (fun whole t => add whole (tile_sum t) 0) tiles done)
    = integer done + sum_of total tiles).
  { clear U R T. induction tiles as [|t rest IH]; intros done D B; simpl; [lia|].
    destruct (E t (or_introl eq_refl)) as (-> & T). cbn [length] in B. rewrite Nat2Z.inj_succ in B.
    destruct (add_is_modular done (total t) 0 D) as (D' & I); [unfold word; lia..|].
    assert (0 <= integer done) by (destruct D; unfold integer, word in *; lia).
    rewrite Z.mod_small in I by lia. rewrite IH, I; [lia | | easy | lia].
    intros t' J. now apply E; right. }
  rewrite S; [reflexivity | repeat split; easy | unfold integer, word; simpl fst; simpl snd; lia].
Qed.

(* Of csrc/summaries/quantise_body.h: the lower and the upper halves of squares of cells below 2^32,
   summed apart, give the exact sum of squares. *)
Theorem halves_of_squares_are_exact : forall whole cells, are_words whole ->
  (forall u, In u cells -> 0 <= u < 2 ^ 32) -> Z.of_nat (length cells) <= 2 ^ 14 ->
  let lower_halves := sum_of (fun u => u * u mod 2 ^ 32) cells in
  let upper_halves := sum_of (fun u => u * u / 2 ^ 32) cells in
  integer (add (add whole lower_halves 0) (upper_halves * 2 ^ 32 mod word) (upper_halves / 2 ^ 32))
  = (integer whole + sum_of (fun u => u * u) cells) mod (word * word).
Proof.
  intros whole cells D U N l h. assert (B : 0 <= l <= 2 ^ 32 * 2 ^ 14 /\ 0 <= h <= 2 ^ 32 * 2 ^ 14).
  { split; apply sum_within; try easy; intros u I; specialize (U u I);
      Z.div_mod_to_equations; nia. }
  replace (sum_of (fun u => u * u) cells) with (l + 2 ^ 32 * h).
  - destruct (add_is_modular whole l 0 D) as (D' & E); [unfold word; lia..|].
    destruct (add_is_modular (add whole l 0) (h * 2 ^ 32 mod word) (h / 2 ^ 32) D') as (_ & ->).
    + apply Z.mod_pos_bound. reflexivity.
    + split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; unfold word; lia.
    + rewrite E, <- Z.add_assoc, Zplus_mod_idemp_l. f_equal.
      pose proof (Z.div_mod (h * 2 ^ 32) word).
      replace word with (2 ^ 32 * 2 ^ 32) in * by reflexivity. rewrite Z.div_mul_cancel_r in *; lia.
  - subst l h. rewrite (sum_equal _ (fun u => u * u)
      (fun u => 1 * (u * u mod 2 ^ 32) + 2 ^ 32 * (u * u / 2 ^ 32) + 0)), sum_linear; [lia|].
    intros u _. pose proof (Z.div_mod (u * u) (2 ^ 32)). lia.
Qed.

(* csrc/groups/sums.c and dpfast/summaries/units.py: the sum of a group, and its number of rows with
   the carries of the sum above 2^40. *)
Definition carry_unit : Z := 2 ^ 40.

Definition merged (g h : Z * Z) : Z * Z :=
  let sum := (fst g + fst h) mod word in
  (sum, (snd g + snd h + if sum <? fst h then carry_unit else 0) mod word).

Fixpoint group_total (t : additions) : Z * Z :=
  match t with Row u => (u, 1) | Plus l r => merged (group_total l) (group_total r) end.

(* Of csrc/groups/sums.h: a group of less than 2^40 rows has its number of rows in the lower 40 bits
   and the carries of its sum above them, in any order of the rows and any cut. *)
Theorem sums_of_groups_are_exact : forall t,
  (forall u, In u (rows_in t) -> 0 <= u <= 2 ^ 41) -> Z.of_nat (length (rows_in t)) < 2 ^ 40 ->
  snd (group_total t) mod carry_unit = Z.of_nat (length (rows_in t)) /\
  fst (group_total t) + word * (snd (group_total t) / carry_unit) = total t.
Proof.
  intros t U N. assert (W : 0 < word) by reflexivity.
  assert (B : 0 <= total t <= 2 ^ 41 * Z.of_nat (length (rows_in t))) by
    (pose proof (sum_bounded _ (fun u => u) 0 (2 ^ 41) (rows_in t) U); unfold total; lia).
  enough (E : 0 <= fst (group_total t) < word /\ exists c, 0 <= c /\
    snd (group_total t) = Z.of_nat (length (rows_in t)) + carry_unit * c /\
    total t = fst (group_total t) + word * c).
  { destruct E as (F & c & C & -> & ->). unfold carry_unit in *.
    rewrite Z.add_comm, Z.mul_comm, Z.div_add_l, Z.div_small, Z.add_comm, Z.mod_add by lia.
    rewrite Z.mod_small by lia. lia. }
  clear B. induction t as [u|l IHl r IHr]; cbn [rows_in group_total] in *.
  - specialize (U u (or_introl eq_refl)). split; [unfold word; simpl fst; lia|].
    exists 0. unfold total. simpl. lia.
  - assert (T : total (Plus l r) = total l + total r) by apply sum_app.
    rewrite app_length, Nat2Z.inj_add in *.
    destruct IHl as (Fl & cl & Cl & Sl & Tl); [intros; apply U, in_app_iff; auto | lia |].
    destruct IHr as (Fr & cr & Cr & Sr & Tr); [intros; apply U, in_app_iff; auto | lia |].
    assert (0 <= total l + total r <= 2 ^ 41 * 2 ^ 40) by (rewrite <- T; apply sum_within;
      [easy | cbn [rows_in]; rewrite app_length; lia | lia]).
    pose proof (carry _ _ Fl Fr) as C. unfold merged; cbn [fst snd].
    set (k := if (fst (group_total l) + fst (group_total r)) mod word <? fst (group_total r)
      then 1 else 0) in *.
    replace (if _ <? _ then carry_unit else 0) with (carry_unit * k) by
      (unfold k; destruct (_ <? _); lia).
    assert (K : 0 <= k <= 1) by (unfold k; destruct (_ <? _); lia).
    split; [apply Z.mod_pos_bound; lia|]. exists (cl + cr + k).
    rewrite Z.mod_small; [unfold carry_unit in *; lia|]. unfold carry_unit, word in *; lia.
Qed.
