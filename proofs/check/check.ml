(* Answers lines of whole numbers with what the specification says of them. A line "." ends a batch,
   of which all lines are read before the first is answered.

     n parts rank low low_part high high_part numerator denominator shift share ties divides
         low_known high_known
       SKIPPED SEEN LEFT BASE
         a node: its target, the least u of all cells, the weight and least distance of each run
     d node most width BOUNDS WORDS
         at most so many proposals from a node of the last batch that had nodes: of each one the
         cell, part, u, weight, bound and coin, and how many words are left
     r m lo hi WEIGHTS COLUMN
         the smooth sensitivity of the rank m, one row replaced
     a p r lo hi WEIGHTS COLUMN
         that of the quantile p / r, one row added or removed

   A list is its length and its elements. *)

open Specification

let fail () = failwith "the line is not as it should be"

(* The numbers of a line after its letter. *)
let numbers line =
  let at = ref 1 and end_ = String.length line in
  let rec one sign value =
    if !at >= end_ || line.[!at] = ' ' then sign * value
    else
      let digit = Char.code line.[!at] - 48 in
      if digit < 0 || digit > 9 || value >= 1 lsl 61 / 10 then fail ();
      incr at;
      one sign ((10 * value) + digit)
  in
  fun () ->
    incr at;
    if !at >= end_ then fail ();
    if line.[!at] = '-' then (incr at; one (-1) 0) else one 1 0

let rec times count next = if count = 0 then [] else let x = next () in x :: times (count - 1) next
let list next = times (next ()) next

type read = { node : node; window : window; runs : candidate list list }

let read_node next =
  let head = Array.of_list (times 14 next) in
  let skipped = list next in
  let seen = list next in
  let left = list next in
  let base = list next in
  let node =
    { parts = head.(0); rank = head.(1); low = head.(2); low_part = head.(3); high = head.(4);
      high_part = head.(5); numerator = head.(6); denominator = head.(7); shift = head.(8);
      share = head.(9); ties = head.(10); divides = head.(11) = 1; rows = skipped @ seen @ left }
  and window = { skipped; seen; left; low_known = head.(12) = 1; high_known = head.(13) = 1 } in
  let cells = number node.low base in
  let said = { node; window; runs = runs_of node window cells } in
  let u (cell, _) = distance_of node cell (first_part node cell) in
  let least = List.fold_left min max_int (List.map u cells) in
  let of_run run = [ sum_of snd run; least_distance node window run ] in
  said, target node :: least :: List.concat_map of_run said.runs

let draws { node; window; runs } next =
  let most = next () in
  let width = next () in
  let bounds = list next in
  let rec go most words =
    match if most = 0 then None else propose width node window (List.combine runs bounds) words with
    | None -> []
    | Some (p, words) ->
        [ p.cell; p.part; p.far; p.weight; p.bound; p.coin; List.length words ] @ go (most - 1) words
  in
  go most (list next)

let known_active = Hashtbl.create 100

(* The active pairs of n rows, computed once. *)
let active_of p r x =
  let key = p, r, List.length x in
  match Hashtbl.find_opt known_active key with
  | Some pairs -> pairs
  | None ->
      let pairs = active p r (List.map fst (number 0 (x @ x))) in
      Hashtbl.add known_active key pairs;
      pairs

let smooth kind next =
  let m = next () in
  let r = if kind = 'a' then next () else 1 in
  let lo = next () in
  let hi = next () in
  let weights = list next in
  let column = list next in
  let x = ranked lo hi column in
  if kind = 'r' then smooth_replace m weights x
  else smooth_add_remove (List.length column) (active_of m r x) weights x

let held = ref [||]

let rec batch lines =
  match input_line stdin with "." -> List.rev lines | line -> batch (line :: lines)

let answers lines =
  let nodes = ref [] in
  let answer line =
    let next = numbers line in
    match line.[0] with
    | 'n' ->
        let read, said = read_node next in
        nodes := read :: !nodes;
        said
    | 'd' ->
        let node = !held.(next ()) in
        draws node next
    | kind -> [ smooth kind next ]
  in
  let said = List.map answer lines in
  if !nodes <> [] then held := Array.of_list (List.rev !nodes);
  said

let () =
  try
    while true do
      let print said = print_endline (String.concat " " (List.map string_of_int said)) in
      List.iter print (answers (batch []))
    done
  with End_of_file -> ()
