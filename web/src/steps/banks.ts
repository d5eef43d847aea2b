// Bank conflicts of one request to shared memory: how many different words its lanes want from each bank.
import type { Banks } from "../profile_types";
import { type Access, wordsOf } from "./replay";

export interface Conflicts {
  depth: number[]; // by bank: different words in the fullest group of lanes
  worst: number;
  later: Set<number>; // words that wait for another one in their bank
}

export function conflictsOf(access: Access, banks: Banks): Conflicts {
  const depth = new Array<number>(banks.banks).fill(0);
  const later = new Set<number>();
  const perWord = banks.bank_bytes / 4;
  // Wide accesses are served for a half or a quarter of the lanes at a time.
  const parts = Math.max(1, Math.min(8, Math.floor((access.bytes * 32) / (banks.banks * banks.bank_bytes)))) * (32 / banks.lanes);
  const size = Math.max(1, Math.floor(32 / parts));
  for (let first = 0; first < 32; first += size) {
    const seen = Array.from({ length: banks.banks }, () => new Set<number>());
    access.lanes.forEach((lane, i) => {
      if (lane < first || lane >= first + size) return;
      const [from, to] = wordsOf(access, i);
      for (let word = from; word <= to; ++word) {
        const unit = Math.floor(word / perWord);
        const bank = seen[unit % banks.banks];
        if (bank.size && !bank.has(unit)) later.add(word);
        bank.add(unit);
      }
    });
    seen.forEach((words, bank) => (depth[bank] = Math.max(depth[bank], words.size)));
  }
  return { depth, worst: Math.max(1, ...depth), later };
}
