// Requests of the page to its server (src/app/serve/api.h).

export interface Start {
  gpus: { id: string; name: string }[];
  gpu: string;
  starts: { name: string; group: string; title: string }[];
  limits: Record<string, number>;
}
export interface Program {
  source: string;
  gpu: string;
  exercise: string; // that it answers; may be empty
}
export interface StartingPoint {
  source: string;
  text: string; // of an exercise: what is to be done
}
export type Mode = "run" | "check" | "judge" | "steps" | `steps ${string}`; // steps X,Y,Z: of that block
export interface RunRequest extends Program {
  mode: Mode;
  arguments: string;
  before: string;
}
export interface Progress {
  state: "queued" | "running" | "done";
  output: string; // from byte `from` on; 0: all of it, when it was begun anew, too
  from: number;
  next: number;
  attempt?: number;
  ahead?: number; // runs that are begun before
  ending?: string;
  good?: boolean;
  report?: boolean;
  comparable?: boolean;
}

async function ask(path: string, body?: unknown): Promise<Response> {
  const response = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (response.ok) return response;
  let why = `the server says ${response.status}`;
  try {
    why = ((await response.json()) as { error: string }).error;
  } catch {
    // a proxy's page, not ours
  }
  throw new Error(why);
}

export const start = async (): Promise<Start> => (await ask("/api/start")).json();
export const startingPoint = async (name: string): Promise<StartingPoint> => (await ask(`/api/starts/${name.split("/").map(encodeURIComponent).join("/")}`)).json();
export const kept = async (id: string): Promise<Program> => (await ask(`/api/programs/${id}`)).json();
export const keep = async (program: Program): Promise<string> => (await (await ask("/api/programs", program)).json()).id;
export const cancel = async (id: string): Promise<void> => void (await ask(`/api/runs/${id}/cancel`, {}));
export const report = async (id: string): Promise<string> => (await ask(`/api/runs/${id}/report`)).text();

/** Follows a run to its end. A server that is started again meanwhile goes on with it. */
export async function run(request: RunRequest, begun: (id: string) => void, seen: (progress: Progress, output: string) => void): Promise<Progress & { id: string; all: string }> {
  const { id } = (await (await ask("/api/runs", request)).json()) as { id: string };
  begun(id);
  let at = 0;
  let attempt = 0;
  let state = "none";
  let ahead = "";
  let all = "";
  for (let failures = 0; ; ) {
    let progress: Progress;
    try {
      progress = await (await ask(`/api/runs/${id}?from=${at}&attempt=${attempt}&state=${state}&ahead=${ahead}`)).json();
      failures = 0;
    } catch (error) {
      if (!(error instanceof TypeError) || ++failures > 20) throw error; // TypeError: no answer
      await new Promise((resolve) => setTimeout(resolve, 500));
      attempt = -1; // what it had said is lost with the server, and it is run again
      continue;
    }
    all = progress.from ? all + progress.output : progress.output;
    at = progress.next;
    attempt = progress.attempt ?? 0;
    state = progress.state;
    ahead = `${progress.ahead ?? ""}`;
    seen(progress, all);
    if (progress.state === "done") return { ...progress, id, all };
  }
}
