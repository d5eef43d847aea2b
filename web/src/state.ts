// Position of the reader, stored in the address so that back, forward and bookmarks work.

export type State = Record<string, string | undefined>;

export function readState(): State {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export function address(state: State): string {
  const used = Object.entries(state).filter((e): e is [string, string] => !!e[1]);
  return "#" + new URLSearchParams(used).toString();
}

export function go(state: State, replace = false): void {
  const target = address(state);
  if (target === location.hash) return;
  if (replace) {
    history.replaceState(null, "", target);
    window.dispatchEvent(new Event("hashchange"));
  } else {
    location.hash = target;
  }
}

export function kernelState(index: number, tab: string, more: State = {}): State {
  return { view: "kernel", k: String(index), tab, ...more };
}
