// Step-through drawings by the name that a chapter gives.
import type { Page, Topic } from "../../../data";
import type { Child } from "../../../dom";
import { haloFigure } from "./halo";
import { overlapFigure } from "./overlap";
import { tilesFigure } from "./tiles";
import { transposeFigure } from "./transpose_tile";
import { treeFigure } from "./tree";

export function figure(page: Page, topic: Topic, name: string | undefined): Child {
  if (name === "tiles") return tilesFigure();
  if (name === "tree") return treeFigure();
  if (name === "transpose") return transposeFigure(topic);
  if (name === "halo") return haloFigure(page, topic);
  if (name === "overlap") return overlapFigure(topic);
  return null;
}
