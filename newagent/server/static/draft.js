/** The student's own changes to the preview that are not stashed yet, and what the timetable shows with them. */

/** A board with a draft over it. `board` is what the service told; ids are those of its state. */
export class Draft {
  constructor() {
    this.board = null;
    this.changes = new Map();
    this.history = [];
  }

  /** Takes a fresh board; changes to another version are of the past. */
  load(board) {
    if (!this.board || board.version !== this.board.version || board.conversation_id !== this.board.conversation_id) {
      this.changes.clear();
      this.history = [];
    }
    this.board = board;
  }

  get changed() {
    return this.changes.size > 0;
  }

  /** Where an item stands with the draft: `{day, start, end}` or null. */
  placeOf(entry) {
    if (this.changes.has(entry.id)) return this.changes.get(entry.id);
    return entry.day ? { day: entry.day, start: entry.start, end: entry.end } : null;
  }

  /** Puts an item at a place, or with null back into the tray. */
  put(entry, place) {
    this.history.push(new Map(this.changes));
    const same = (one, two) => one?.day === two?.day && one?.start === two?.start;
    const stored = entry.day ? { day: entry.day, start: entry.start } : null;
    if (same(stored, place)) this.changes.delete(entry.id);
    else this.changes.set(entry.id, place);
  }

  /** Takes the last change of the draft back. */
  back() {
    this.changes = this.history.pop() ?? this.changes;
  }

  /** All that stands somewhere, with its place under the draft. */
  get entries() {
    const all = [...this.board.entries, ...this.board.pending];
    return all.flatMap((entry) => {
      const place = this.placeOf(entry);
      return place ? [{ ...entry, ...place, drafted: this.changes.has(entry.id) }] : [];
    });
  }

  /** What waits in the tray. */
  get pending() {
    const all = [...this.board.pending, ...this.board.entries.filter((entry) => entry.movable)];
    return all.filter((entry) => !this.placeOf(entry));
  }

  /** The placement as the service takes it. */
  get items() {
    return this.entries
      .filter((entry) => entry.movable)
      .map(({ task_item_id, day, start, end }) => {
        const { week, day_of_week } = this.board.days[day - 1];
        return { task_item_id, week, day_of_week, start_section: start, end_section: end };
      });
  }
}
