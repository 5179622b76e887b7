// SPDX-License-Identifier: BSD-3-Clause
// Widgets of the panel. Text from files is only inserted as text, never as HTML.

import type { Value } from "../../src/index.js";
import { partOf, valueAt, type Axis } from "./scale.js";

type Children = readonly (Node | string)[];

/** An element with properties and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<Record<string, unknown>> = {},
  children: Children = [],
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role" || name === "for") {
      element.setAttribute(name, String(value));
    } else {
      Object.assign(element, { [name]: value });
    }
  }
  element.append(...children);
  return element;
}

let ids = 0;

/** A label and a control in a line. */
export function row(label: string, control: HTMLElement, ...more: HTMLElement[]): HTMLDivElement {
  control.id ||= `control-${++ids}`;
  return make("div", { className: "row" }, [make("label", { for: control.id }, [label]), control, ...more]);
}

export function button(text: string, action: () => void, label?: string): HTMLButtonElement {
  const element = make("button", { type: "button", ...(label !== undefined && { "aria-label": label }) }, [text]);
  element.addEventListener("click", action);
  return element;
}

export function fieldset(title: string, children: Children): HTMLFieldSetElement {
  return make("fieldset", {}, [make("legend", {}, [title]), ...children]);
}

export function check(id: string, label: string, isOn: boolean, change: (isOn: boolean) => void): HTMLElement {
  const input = make("input", { type: "checkbox", checked: isOn, id });
  input.addEventListener("change", () => change(input.checked));
  return make("label", {}, [input, ` ${label}`]);
}

/** A drop-down list. An option's value is its index; with `none`, the first option has "-1". */
export function choice(
  labels: readonly string[],
  chosen: number,
  change: (index: number) => void,
  none?: string,
): HTMLSelectElement {
  const select = make("select");
  if (none !== undefined) {
    select.append(make("option", { value: "-1" }, [none]));
  }
  labels.forEach((label, i) => select.append(make("option", { value: String(i) }, [label])));
  select.value = String(chosen);
  select.addEventListener("change", () => change(Number(select.value)));
  return select;
}

export function slider(
  lowest: number,
  highest: number,
  value: number,
  text: (v: number) => string,
  change: (v: number) => void,
): { input: HTMLInputElement; output: HTMLOutputElement } {
  const input = make("input", { type: "range", min: String(lowest), max: String(highest), step: "any" });
  input.value = String(value);
  const output = make("output", {}, [text(value)]);
  input.addEventListener("input", () => {
    output.textContent = text(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
    change(Number(input.value));
  });
  input.setAttribute("aria-valuetext", text(value));
  return { input, output };
}

const STEPS = 1000;

export interface Limits {
  readonly label: string;
  readonly isInteger: boolean;
  readonly minimum: Value;
  readonly maximum: Value;
  readonly logarithmic?: boolean;
}

/** A value formatted for display; integers exactly. */
export function numberText(v: Value): string {
  return typeof v === "bigint" || Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(7)));
}

/**
 * The two ends of a range: two handles over a histogram, and two fields for exact numbers. An empty field means no
 * limit.
 */
export class Between {
  readonly element: HTMLDivElement;
  private readonly handles: readonly [HTMLInputElement, HTMLInputElement];
  private readonly fields: readonly [HTMLInputElement, HTMLInputElement];
  private readonly canvas: HTMLCanvasElement;
  private counts: readonly number[] = [];

  constructor(
    private readonly limits: Limits,
    private readonly ends: [Value | null, Value | null],
    private readonly change: (ends: readonly [Value | null, Value | null]) => void,
    remove?: () => void,
  ) {
    const { label } = limits;
    const handle = (side: 0 | 1): HTMLInputElement => {
      const input = make("input", { type: "range", min: "0", max: String(STEPS), step: "1" });
      input.setAttribute("aria-label", `${side === 0 ? "Minimum" : "Maximum"} ${label}`);
      input.addEventListener("input", () => this.dragged(side));
      return input;
    };
    const field = (side: 0 | 1): HTMLInputElement => {
      const input = make("input", { type: "text", inputMode: "decimal", spellcheck: false });
      input.setAttribute("aria-label", `${side === 0 ? "Minimum" : "Maximum"} ${label}, a number or nothing`);
      input.addEventListener("change", () => this.typed(side));
      return input;
    };
    this.handles = [handle(0), handle(1)];
    this.fields = [field(0), field(1)];
    this.canvas = make("canvas", { width: 580, height: 80, "aria-hidden": "true" });
    this.element = make("div", { className: "between", role: "group", "aria-label": `Range of ${label}` }, [
      make("div", { className: "name" }, [label, ...(remove ? [button("×", remove, `Remove the range of ${label}`)] : [])]),
      this.canvas,
      make("div", { className: "slider" }, [...this.handles]),
      make("div", { className: "ends" }, [...this.fields]),
    ]);
    this.show();
  }

  setHistogram(counts: readonly number[]): void {
    this.counts = counts;
    this.drawHistogram();
  }

  setEnds(ends: readonly [Value | null, Value | null]): void {
    [this.ends[0], this.ends[1]] = ends;
    this.show();
  }

  private valueAt(step: number): Value {
    const { minimum, maximum, isInteger } = this.limits;
    if (isInteger) {
      const [low, high] = [BigInt(minimum), BigInt(maximum)];
      return low + ((high - low) * BigInt(step)) / BigInt(STEPS);
    }
    return valueAt(this.axis, step / STEPS);
  }

  private get axis(): Axis {
    const { minimum, maximum, logarithmic } = this.limits;
    return { minimum: Number(minimum), maximum: Number(maximum), logarithmic: logarithmic ?? false };
  }

  private stepOf(v: Value): number {
    return Math.round(STEPS * Math.min(Math.max(partOf(this.axis)(Number(v)) || 0, 0), 1));
  }

  private dragged(side: 0 | 1): void {
    const other = this.handles[side === 0 ? 1 : 0];
    const step =
      side === 0
        ? Math.min(Number(this.handles[0].value), Number(other.value))
        : Math.max(Number(this.handles[1].value), Number(other.value));
    // A handle at its stop means no limit.
    this.ends[side] = step === (side === 0 ? 0 : STEPS) ? null : this.valueAt(step);
    this.show();
    this.change([...this.ends]);
  }

  private typed(side: 0 | 1): void {
    const field = this.fields[side];
    const text = field.value.trim();
    let v: Value | null = null;
    if (text !== "") {
      const isExact = this.limits.isInteger && /^[-+]?\d{1,20}$/.test(text);
      v = isExact ? BigInt(text.replace("+", "")) : Number(text);
    }
    const [low, high] = side === 0 ? [v, this.ends[1]] : [this.ends[0], v];
    const isBad = (v !== null && v !== v) || (low !== null && high !== null && low > high);
    field.setAttribute("aria-invalid", String(isBad));
    if (!isBad) {
      this.ends[side] = v;
      this.show();
      this.change([...this.ends]);
    }
  }

  private show(): void {
    const { minimum, maximum } = this.limits;
    [minimum, maximum].forEach((limit, side) => {
      const end = this.ends[side as 0 | 1];
      const handle = this.handles[side as 0 | 1];
      handle.value = String(end === null ? (side === 0 ? 0 : STEPS) : this.stepOf(end));
      handle.setAttribute("aria-valuetext", numberText(end ?? limit));
      const field = this.fields[side as 0 | 1];
      field.value = end === null ? "" : String(end); // exact, not rounded
      field.placeholder = numberText(limit);
      field.setAttribute("aria-invalid", "false");
    });
    this.drawHistogram();
  }

  private drawHistogram(): void {
    const { canvas, counts } = this;
    const context = canvas.getContext("2d")!;
    const styles = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, canvas.width, canvas.height);
    // Heights are square roots, so that rare values stay visible next to frequent ones.
    const highest = Math.sqrt(Math.max(1, ...counts));
    const width = canvas.width / Math.max(counts.length, 1);
    const [first, last] = this.handles.map((handle) => Number(handle.value) / STEPS) as [number, number];
    counts.forEach((count, i) => {
      const middle = (i + 0.5) / counts.length;
      const isIn = middle >= first && middle <= last;
      context.fillStyle = styles.getPropertyValue(isIn ? "--accent" : "--line");
      const height = (canvas.height * Math.sqrt(count)) / highest;
      context.fillRect(i * width, canvas.height - height, Math.max(width - 2, 1), height);
    });
  }
}
