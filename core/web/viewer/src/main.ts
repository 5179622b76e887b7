// SPDX-License-Identifier: BSD-3-Clause
// The page: the user's settings, what is loaded for them, and what is drawn.

import type { Traffic, Value } from "../../src/index.js";
import { Client, ProblemError } from "./client.js";
import { COLOUR_MAPS, gradient, type ColourMap } from "./colours.js";
import { Between, button, check, choice, fieldset, make, numberText, row, slider } from "./controls.js";
import { chosenFiles, droppedFiles, stepsAt, stepsOf, type Step } from "./files.js";
import {
  keyText,
  type DatasetFacts,
  type FromWorker,
  type Histogram,
  type KeyFacts,
  type KeyRef,
  type Problem,
  type Scale,
} from "./protocol.js";
import { partOf, valueAt } from "./scale.js";
import { View3D, type Picked } from "./scene.js";
import { MIN_BUDGET, MAX_BUDGET, fromHash, toHash, type State } from "./state.js";

const MEMORY_BYTES = 512 * 1024 * 1024;
const MAX_NOTES = 4;
const RETRY_AFTER = 2000; // ms, after a connection was lost

function byId<Type extends HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

function bytesText(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
}

/** The title of a control. */
function nameOf(element: Element): string {
  const { labels } = element as HTMLInputElement;
  return element.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? element.textContent ?? "";
}

interface Status {
  /** Whether everything requested is loaded. */
  readonly isIdle: boolean;
  /** Whether it is also drawn with its colours, and the URL is up to date. */
  readonly isSettled: boolean;
  readonly shown: number;
  /** Share of the particles that is shown in the visible region. */
  readonly quality: number;
  readonly generation: number;
  /** ms from the start of the page to the first picture with particles. */
  readonly pictureTime: number | null;
}

const COUNT = new Intl.NumberFormat("en");

class App {
  private readonly state: State = fromHash(location.hash);
  private readonly client = new Client((event) => this.received(event));
  private readonly view: View3D;
  private readonly panel = byId("panel");
  private steps: readonly Step[] = [];
  private facts: DatasetFacts | null = null;
  private generation = 0;
  private isIdle = false;
  private quality = 0;
  private traffic: Traffic = { requests: 0, bytes: 0, retries: 0, underWay: 0 };
  /** The control for the ends of the colour map. */
  private colourEnds: Between | null = null;
  private histograms = new Map<string, Histogram>();
  private picked: Picked | null = null;
  private hasFirst = false;
  /** Whether a step with particles has been open: only then are the choices and the camera's position known. */
  private isKnown = false;
  private pendingHistograms: (() => void)[] = [];
  private hiddenNotes = 0;
  private timers = new Map<string, number>();
  private playing = 0;
  private attempts = 0;
  /** Keys of all steps that were open: a step without values of an attribute keeps the ranges that are set. */
  private keys = new Map<string, KeyFacts>();
  /** Ends of scales over all steps that were open, so that colours mean the same in each. */
  private scales = new Map<string, readonly [number, number]>();
  private pictureTime: number | null = null;
  private started = performance.now();

  constructor() {
    this.view = new View3D(
      byId("picture"),
      () => {
        this.saveSoon();
        if (this.facts !== null) {
          this.isIdle = false;
          this.client.look(this.view.view());
        }
      },
      () => {
        if (this.pictureTime === null && this.view.count > 0) {
          this.pictureTime = performance.now() - this.started;
        }
      },
    );
    this.applyTheme();
    this.listen();
    void this.begin();
  }

  // ---- What is opened ----

  private async begin(): Promise<void> {
    const published = JSON.parse(byId("published").textContent ?? "{}") as { data?: unknown };
    const requested = new URLSearchParams(location.search).get("data");
    const address = requested ?? (typeof published.data === "string" ? published.data : null);
    this.buildPanel();
    if (address === null) {
      byId("empty").hidden = false;
      return;
    }
    await this.attempt(async () => this.open(await stepsAt(address, location.href), true));
  }

  /** Runs an action that may fail; repeats it after a lost connection. */
  private async attempt(action: () => Promise<void>): Promise<void> {
    const own = ++this.attempts;
    for (;;) {
      try {
        await action();
        return;
      } catch (error) {
        if (own !== this.attempts) {
          return; // something else has been requested since
        }
        const problem: Problem =
          error instanceof ProblemError
            ? error.problem
            : {
                kind: (error as { kind?: Problem["kind"] }).kind ?? "other",
                message: error instanceof Error ? error.message : String(error),
              };
        if (problem.message === "moved on") {
          return;
        }
        byId("empty").hidden = this.facts !== null;
        this.note(problem.message, problem.kind);
        if (problem.kind !== "unreachable") {
          return;
        }
        await this.reconnected();
        if (own !== this.attempts) {
          return;
        }
      }
    }
  }

  /** Waits for some time, or until the browser reports that it is online again. */
  private async reconnected(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RETRY_AFTER);
      addEventListener(
        "online",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }

  private async open(steps: readonly Step[], keepsState: boolean): Promise<void> {
    this.stopPlaying();
    this.steps = steps;
    if (steps.length === 0) {
      throw new Error("a series without steps");
    }
    if (!keepsState) {
      Object.assign(this.state, fromHash(""), { theme: this.state.theme });
    }
    this.scales.clear();
    this.keys.clear();
    this.isKnown = false;
    this.facts = null;
    await this.openStep(Math.min(this.state.step, steps.length - 1));
  }

  private async openStep(number: number): Promise<void> {
    const facts = await this.client.ask("open", { source: this.steps[number]!.source, memoryBytes: MEMORY_BYTES });
    this.facts = facts;
    this.state.step = number;
    this.histograms.clear();
    this.hasFirst = false;
    this.pendingHistograms = [];
    this.pick(null);
    byId("empty").hidden = true;
    this.clearNotes();
    const isFirst = !this.isKnown;
    this.isKnown ||= facts.particles !== 0n;
    for (const one of facts.particles === 0n ? [] : facts.keys) {
      const { key, minimum, maximum } = one;
      this.keys.set(keyText(key), one);
      const before = this.scales.get(keyText(key)) ?? [Infinity, -Infinity];
      this.scales.set(keyText(key), [Math.min(before[0], Number(minimum)), Math.max(before[1], Number(maximum))]);
    }
    if (isFirst && this.isKnown) {
      this.chooseColour();
    }
    this.view.setDataset(facts.bounds, !isFirst);
    if (isFirst && this.isKnown && this.state.camera !== null) {
      this.view.setCamera(this.state.camera);
    }
    document.title = `${facts.title ?? this.steps[number]!.label} · ParaBAT`;
    this.buildPanel();
    this.load();
  }

  /** The attribute that determines colours at first: a floating-point one rather than an id or a type. */
  private chooseColour(): void {
    const { keys } = this.facts!;
    const has = (key: KeyRef | null): boolean => key !== null && keys.some((one) => keyText(one.key) === keyText(key));
    if (this.state.colour !== null && !has(this.state.colour)) {
      this.state.colour = null;
    }
    if (this.state.size !== null && !has(this.state.size)) {
      this.state.size = null;
    }
    this.state.filters = this.state.filters.filter(({ key }) => has(key) && key.attribute !== "");
    if (this.state.colour === null && !this.state.isPlain) {
      // In the first step of a series all values may still be the same.
      const own = keys.filter(
        ({ key, minimum, maximum }) => key.attribute !== "" && (minimum < maximum || this.steps.length > 1),
      );
      const float = own.filter(({ isInteger }) => !isInteger);
      const best =
        float.find(({ key }) => key.component === -1) ??
        float[0] ??
        keys.find(({ key }) => key.attribute === "" && key.component === 2);
      this.state.colour = best?.key ?? null;
      this.state.logarithmic = best !== undefined && best.minimum > 0 && Number(best.maximum) / Number(best.minimum) > 1e5;
    }
  }

  private scaleOf(key: KeyRef | null, logarithmic: boolean): Scale | null {
    const isThere =
      key?.attribute === "" ||
      this.facts?.particles === 0n ||
      this.facts?.attributes.some(({ name }) => name === key?.attribute);
    const ends = key === null || !isThere ? undefined : this.scales.get(keyText(key));
    return key === null || ends === undefined ? null : { key, minimum: ends[0], maximum: ends[1], logarithmic };
  }

  /** The available choices: in a step without particles, those of the other steps. */
  private choices(): readonly KeyFacts[] {
    return this.facts!.particles === 0n && this.keys.size > 0 ? [...this.keys.values()] : this.facts!.keys;
  }

  private load(): void {
    if (this.facts === null) {
      return;
    }
    const { state } = this;
    this.isIdle = false;
    this.view.setBox(state.box);
    this.client.load(
      ++this.generation,
      {
        budget: state.budget,
        colour: this.scaleOf(state.colour, state.logarithmic),
        size: this.scaleOf(state.size, false),
        filters: state.filters
          .filter(({ minimum, maximum }) => minimum !== null || maximum !== null)
          .map(({ key, minimum, maximum }) => ({ key, minimum: minimum ?? -Infinity, maximum: maximum ?? Infinity })),
        box: state.box,
      },
      this.view.view(),
    );
    this.saveSoon();
    this.applyColours();
  }

  // ---- Messages from the worker ----

  private received(event: Exclude<FromWorker, { type: "answer" }>): void {
    switch (event.type) {
      case "batch":
        if (event.generation === this.generation) {
          if (event.isFirst) {
            this.view.remove(this.view.batches);
            this.pick(null);
          }
          this.view.add(event.batch);
          if (event.isFirst) {
            // Not earlier: the histogram's sample consists of what the first picture has read.
            this.hasFirst = true;
            void this.showColours();
            this.pendingHistograms.splice(0).forEach((action) => action());
          }
        }
        break;
      case "drop":
        if (event.generation === this.generation) {
          if (this.picked && event.batches.includes(this.picked.batch)) {
            this.pick(null);
          }
          this.view.remove(event.batches);
        }
        break;
      case "progress":
        if (event.generation === this.generation) {
          this.quality = event.quality;
          this.view.setRadius(this.state.radius, event.quality);
          this.isIdle = event.isDone;
          this.traffic = event.traffic;
          const { bytes, requests } = event.traffic;
          const total = COUNT.format(this.facts?.particles ?? 0n);
          const part = this.view.count > 0 || event.isDone ? "" : "loading… ";
          byId("readout").textContent =
            `${part}${COUNT.format(this.view.count)} of ${total} particles · ${bytesText(bytes)} in ${COUNT.format(requests)} requests`;
        }
        break;
      case "damage":
        this.note(
          event.particles > 0 ? `${event.message}. ${COUNT.format(event.particles)} particles are missing.` : event.message,
          "corrupt",
        );
        break;
      case "problem":
        if (event.generation >= this.generation) {
          this.note(event.problem.message, event.problem.kind);
          if (event.problem.kind === "unreachable") {
            const { generation } = this;
            void this.reconnected().then(() => {
              if (generation === this.generation) {
                this.clearNotes();
                this.load();
              }
            });
          } else {
            this.isIdle = true;
          }
        }
        break;
    }
  }

  private note(text: string, kind: string): void {
    const notes = byId("notes");
    const shown = text.length > 600 ? `${text.slice(0, 600)}…` : text;
    if ([...notes.children].some((one) => one.firstChild?.textContent === shown)) {
      return;
    }
    if (notes.children.length >= MAX_NOTES) {
      ++this.hiddenNotes;
      const rest = notes.lastElementChild!;
      rest.firstChild!.textContent = `and ${this.hiddenNotes} more messages`;
      return;
    }
    const element: HTMLElement = make("div", { className: "note" }, [
      make("span", {}, [shown]),
      button("×", () => element.remove(), "Close this message"),
    ]);
    element.dataset["kind"] = kind;
    notes.append(element);
  }

  private clearNotes(): void {
    byId("notes").replaceChildren();
    this.hiddenNotes = 0;
  }

  // ---- Colours ----

  private histogram(scale: Scale): Promise<Histogram | null> {
    const key = JSON.stringify([keyText(scale.key), scale.logarithmic]);
    const known = this.histograms.get(key);
    const { facts } = this;
    if (known) {
      return Promise.resolve(known);
    }
    if (!this.hasFirst) {
      return new Promise((resolve) => this.pendingHistograms.push(() => resolve(this.histogram(scale))));
    }
    return this.client.ask("histogram", { scale }).then(
      (found) => {
        if (facts === this.facts) {
          this.histograms.set(key, found);
        }
        return found;
      },
      () => null, // loading reports why it cannot be read
    );
  }

  private applyColours(): void {
    const { colour, logarithmic, colourMap, colourRange } = this.state;
    const scale = this.scaleOf(colour, logarithmic);
    const [low, high] = scale === null || colourRange === null ? [0, 1] : colourRange.map(partOf(scale));
    this.view.setColours(colourMap, [low!, high!]);
  }

  /**
   * By default the map covers most particles, and outliers get the colours of its ends. The ends stay the same for all
   * steps of a series, so that a colour means the same in each.
   */
  private async showColours(): Promise<void> {
    const { state, facts } = this;
    this.applyColours();
    const scale = this.scaleOf(state.colour, state.logarithmic);
    if (scale === null || state.colourRange !== null) {
      return;
    }
    const found = await this.histogram(scale);
    const now = this.scaleOf(state.colour, state.logarithmic);
    if (facts !== this.facts || found === null || JSON.stringify(now) !== JSON.stringify(scale)) {
      return;
    }
    // If all values are equal, the range is unknown until a later step of the series.
    if (state.colourRange === null && found.low < found.high) {
      const [low, high] = [valueAt(scale, found.low), valueAt(scale, found.high)];
      if (low < high) {
        state.colourRange = [low, high];
        this.colourEnds?.setEnds([low, high]);
        this.applyColours();
        this.saveSoon();
      }
    }
  }

  // ---- The panel ----

  /** Keyboard focus is preserved: the panel is rebuilt, and the control with the same name gets the focus again. */
  private buildPanel(): void {
    const active = document.activeElement;
    const name = active !== null && byId("settings").contains(active) ? nameOf(active) : null;
    const scroll = this.panel.scrollTop;
    this.fillPanel();
    this.panel.scrollTop = scroll;
    if (name !== null && !active!.isConnected) {
      const again = [...byId("settings").querySelectorAll<HTMLElement>("button, input, select")].find(
        (one) => one.tagName === active!.tagName && nameOf(one) === name,
      );
      again?.focus({ preventScroll: true });
    }
  }

  private fillPanel(): void {
    const { facts, state } = this;
    const [about, settings] = [byId("about"), byId("settings")];
    this.colourEnds = null;
    if (facts === null) {
      about.replaceChildren(make("h1", {}, ["ParaBAT viewer"]));
      this.showTime();
      settings.replaceChildren(this.appearance());
      return;
    }
    const time = facts.time === null ? [] : [`time ${numberText(facts.time)}`];
    const step = facts.step === null ? [] : [`step ${facts.step}`];
    const leaves = facts.leafFiles > 1 ? [`${COUNT.format(facts.leafFiles)} leaf files`] : [];
    about.replaceChildren(
      make("h1", {}, [facts.title ?? this.steps[state.step]!.label]),
      make("p", { className: "facts" }, [
        [`${COUNT.format(facts.particles)} particles`, ...leaves, ...step, ...time].join(" · "),
      ]),
    );
    this.showTime();
    settings.replaceChildren(
      this.colourControls(),
      this.filterControls(),
      this.boxControls(),
      this.discControls(),
      fieldset("Particle", [
        make("div", { id: "picked", "aria-live": "polite" }, [
          make("p", { className: "hint" }, ["Click a particle to see its attributes."]),
        ]),
      ]),
      this.appearance(),
    );
  }

  private keyChoice(
    keys: readonly KeyFacts[],
    chosen: KeyRef | null,
    none: string,
    change: (key: KeyRef | null) => void,
  ): HTMLSelectElement {
    const index = chosen === null ? -1 : keys.findIndex(({ key }) => keyText(key) === keyText(chosen));
    return choice(
      keys.map(({ key, label }) =>
        this.facts!.units.has(key.attribute) ? `${label} (${this.facts!.units.get(key.attribute)})` : label,
      ),
      index,
      (i) => change(i < 0 ? null : keys[i]!.key),
      none,
    );
  }

  private stepLabel(step: number): string {
    const { time, label } = this.steps[step]!;
    return time === null ? label.slice(label.lastIndexOf("/") + 1) : numberText(time);
  }

  /** The slider is built once for a series, as the user may be dragging it while steps change. */
  private showTime(): void {
    const place = byId("series");
    if (this.facts === null || this.steps.length < 2) {
      place.replaceChildren();
      return;
    }
    let input = document.getElementById("time") as HTMLInputElement | null;
    if (input === null) {
      input = this.timeSlider();
      const play = button("Play", () => (this.playing ? this.stopPlaying() : this.play()));
      play.id = "play";
      const output = make("output", { id: "time-text" });
      place.append(fieldset("Time", [row("Time", input, output), make("div", { className: "buttons" }, [play])]));
    }
    input.max = String(this.steps.length - 1);
    if (!this.timers.has("step")) {
      this.tellTime(input, this.state.step);
    }
  }

  private tellTime(input: HTMLInputElement, step: number): void {
    input.value = String(step);
    input.setAttribute("aria-valuetext", `time ${this.stepLabel(step)}`);
    byId("time-text").textContent = this.stepLabel(step);
  }

  private timeSlider(): HTMLInputElement {
    const input = make("input", { type: "range", min: "0", step: "1", id: "time" });
    input.addEventListener("input", () => {
      const step = Number(input.value);
      this.tellTime(input, step);
      this.soon("step", 120, () => void this.attempt(() => this.openStep(step)));
    });
    return input;
  }

  private play(): void {
    const next = async (): Promise<void> => {
      if (!this.playing) {
        return;
      }
      // The next step follows when this one is shown, at most four times a second.
      if (this.isIdle || this.view.count > 0.2 * this.state.budget) {
        await this.attempt(() => this.openStep((this.state.step + 1) % this.steps.length));
      }
      if (this.playing) {
        this.playing = window.setTimeout(() => void next(), 250);
      }
    };
    this.playing = window.setTimeout(() => void next(), 0);
    byId("play").textContent = "Pause";
  }

  private stopPlaying(): void {
    clearTimeout(this.playing);
    this.playing = 0;
    const play = document.getElementById("play");
    if (play) {
      play.textContent = "Play";
    }
  }

  private colourControls(): HTMLElement {
    const { state } = this;
    const by = this.keyChoice(this.choices(), state.colour, "single colour", (key) => {
      state.colour = key;
      state.isPlain = key === null;
      state.colourRange = null;
      this.load();
      this.buildPanel();
    });
    const maps = Object.keys(COLOUR_MAPS) as ColourMap[];
    const map = choice(maps, maps.indexOf(state.colourMap), (i) => {
      state.colourMap = maps[i]!;
      bar.style.background = gradient(state.colourMap);
      this.saveSoon();
      void this.showColours();
    });
    by.id = "colour";
    map.id = "map";
    const bar = make("div", { className: "bar", role: "img", "aria-label": "Colours from minimum to maximum" });
    bar.style.background = gradient(state.colourMap);
    const facts = this.choices().find(({ key }) => state.colour !== null && keyText(key) === keyText(state.colour));
    const more: HTMLElement[] = [];
    if (facts) {
      const scale = this.scaleOf(facts.key, state.logarithmic)!;
      const { minimum, maximum, logarithmic } = scale;
      const between = new Between(
        { label: "colours", isInteger: false, minimum, maximum, logarithmic },
        state.colourRange === null ? [null, null] : [...state.colourRange],
        ([low, high]) => {
          state.colourRange = [Number(low ?? minimum), Number(high ?? maximum)];
          this.saveSoon();
          this.applyColours();
        },
      );
      this.colourEnds = between;
      between.element.querySelector(".name")!.remove();
      between.element.prepend(between.element.querySelector(".ends")!); // below the bar
      void this.histogram(scale).then((found) => found && between.setHistogram(found.counts));
      const fit = button(
        "Fit",
        () => {
          state.colourRange = null;
          void this.showColours();
        },
        "Fit the colours to most particles",
      );
      const log = check("logarithmic", "logarithmic", state.logarithmic, (isOn) => {
        state.logarithmic = isOn;
        state.colourRange = null;
        this.load();
        this.buildPanel();
      });
      const below = make("div", { className: "split" }, [Number(facts.maximum) > 0 ? log : "", fit]);
      more.push(row("Map", map), bar, between.element, below);
    }
    return fieldset("Colour", [row("By", by), ...more]);
  }

  private filterControls(): HTMLElement {
    const { state } = this;
    const keys = this.choices().filter(({ key }) => key.attribute !== "");
    const sliders = state.filters.flatMap((filter, index) => {
      const facts = keys.find(({ key }) => keyText(key) === keyText(filter.key)) ?? this.keys.get(keyText(filter.key));
      if (facts === undefined) {
        return []; // no step with particles was open
      }
      const between = new Between(
        facts,
        [filter.minimum, filter.maximum],
        ([minimum, maximum]) => {
          state.filters = state.filters.map((one, i) => (i === index ? { ...one, minimum, maximum } : one));
          this.soon("load", 120, () => this.load());
        },
        () => {
          state.filters = state.filters.filter((_, i) => i !== index);
          this.buildPanel();
          this.load();
        },
      );
      const scale = this.scaleOf(filter.key, false);
      if (scale !== null) {
        void this.histogram({ ...scale, minimum: Number(facts.minimum), maximum: Number(facts.maximum) }).then(
          (found) => found && between.setHistogram(found.counts),
        );
      }
      return [between.element];
    });
    const left = keys.filter(({ key }) => !state.filters.some((one) => keyText(one.key) === keyText(key)));
    const add = this.keyChoice(left, null, "add…", (key) => {
      if (key !== null && state.filters.length < 20) {
        state.filters = [...state.filters, { key, minimum: null, maximum: null }];
        this.buildPanel();
      }
    });
    add.id = "filter";
    return fieldset("Ranges", [...sliders, ...(left.length > 0 ? [row("Attribute", add)] : [])]);
  }

  private boxControls(): HTMLElement {
    const { state } = this;
    const { bounds } = this.facts!;
    const on = check("box", "Use box", state.box !== null, (isOn) => {
      // Removes a quarter on each side, so that the effect is visible.
      const quarter = (i: number): number => {
        const [minimum, maximum] = [bounds[i % 3]!, bounds[(i % 3) + 3]!];
        return maximum > minimum ? valueAt({ minimum, maximum, logarithmic: false }, i < 3 ? 0.25 : 0.75) : minimum;
      };
      state.box = isOn ? bounds.map((_, i) => quarter(i)) : null;
      this.buildPanel();
      this.load();
    });
    const sides =
      state.box === null
        ? []
        : [0, 1, 2].map((axis) => {
            const between = new Between(
              { label: "xyz"[axis]!, isInteger: false, minimum: bounds[axis]!, maximum: bounds[axis + 3]! },
              [state.box![axis]!, state.box![axis + 3]!],
              ([low, high]) => {
                const box = [...state.box!];
                box[axis] = Number(low ?? bounds[axis]!);
                box[axis + 3] = Number(high ?? bounds[axis + 3]!);
                state.box = box;
                this.view.setBox(box);
                this.soon("load", 120, () => this.load());
              },
            );
            between.element.querySelector("canvas")!.remove();
            return between.element;
          });
    return fieldset("Box", [on, ...sides]);
  }

  private discControls(): HTMLElement {
    const { state } = this;
    const budget = slider(
      Math.log2(MIN_BUDGET),
      Math.log2(MAX_BUDGET),
      Math.log2(state.budget),
      (v) => COUNT.format(Number((2 ** v).toPrecision(2))),
      (v) => {
        state.budget = Math.min(Number((2 ** v).toPrecision(2)), MAX_BUDGET);
        this.soon("load", 250, () => this.load());
      },
    );
    budget.input.id = "budget";
    const radius = slider(
      -3,
      3,
      Math.log2(state.radius),
      (v) => `× ${(2 ** v).toFixed(2)}`,
      (v) => {
        state.radius = 2 ** v;
        this.view.setRadius(state.radius, this.quality);
        this.saveSoon();
      },
    );
    radius.input.id = "radius";
    const by = this.keyChoice(this.choices(), state.size, "the same for all", (key) => {
      state.size = key;
      this.load();
    });
    by.id = "size";
    return fieldset("Discs", [
      row("Maximum", budget.input, budget.output),
      row("Radius", radius.input, radius.output),
      row("Size by", by),
    ]);
  }

  private appearance(): HTMLElement {
    const buttons = [
      button("Light or dark", () => {
        this.state.theme = this.isDark() ? "light" : "dark";
        this.applyTheme();
        this.saveSoon();
      }),
      button("Open…", () => byId("files").click(), "Open files from this computer"),
      ...(this.facts === null
        ? []
        : [
            button("Reset view", () => this.view.resetCamera()),
            button("Save screenshot", () => void this.savePicture()),
            button("Copy link", () => void this.copyLink()),
          ]),
    ];
    const hint =
      "Drag to rotate, right button or two fingers to pan, wheel to zoom. Keys: arrows, with Shift to pan, + and −, R.";
    return fieldset("View", [
      make("div", { className: "buttons" }, buttons),
      ...(this.facts === null ? [] : [make("p", { className: "hint" }, [hint])]),
    ]);
  }

  // ---- Picking ----

  private pick(picked: Picked | null): void {
    this.picked = picked;
    this.view.setMark(picked);
    const place = document.getElementById("picked");
    if (picked === null) {
      place?.replaceChildren(make("p", { className: "hint" }, ["Click a particle to see its attributes."]));
      return;
    }
    void this.client.ask("particle", picked).then(
      ({ leaf, filePosition, position, attributes }) => {
        if (this.picked !== picked) {
          return;
        }
        const line = (name: string, values: readonly Value[]): HTMLElement =>
          make("tr", {}, [
            make("th", { scope: "row" }, [name.length > 200 ? `${name.slice(0, 200)}…` : name]),
            make("td", {}, [values.map(String).join(", ")]),
          ]);
        const where = this.facts!.leafFiles > 1 ? `particle ${filePosition} of leaf file ${leaf}` : `particle ${filePosition}`;
        place?.replaceChildren(
          make("table", {}, [
            make("caption", { className: "hint" }, [where]),
            line("position", position),
            ...[...attributes].slice(0, 500).map(([name, values]) => line(name, values)),
          ]),
        );
      },
      (error: Error) => place?.replaceChildren(make("p", { className: "hint" }, [error.message])),
    );
  }

  // ---- The page ----

  private isDark(): boolean {
    return this.state.theme === null ? matchMedia("(prefers-color-scheme: dark)").matches : this.state.theme === "dark";
  }

  private applyTheme(): void {
    document.documentElement.classList.toggle("dark", this.isDark());
    document.documentElement.style.colorScheme = this.isDark() ? "dark" : "light";
    this.view.setTheme(this.isDark());
  }

  private soon(name: string, milliseconds: number, action: () => void): void {
    clearTimeout(this.timers.get(name));
    this.timers.set(
      name,
      window.setTimeout(() => {
        this.timers.delete(name);
        action();
      }, milliseconds),
    );
  }

  /**
   * Keeps the settings in the URL. Further changes do not postpone it, because a playing series never stops changing.
   */
  private saveSoon(): void {
    if (this.timers.has("save")) {
      return;
    }
    this.soon("save", 300, () => {
      if (this.facts === null) {
        return;
      }
      this.state.camera = this.isKnown ? this.view.cameraState() : this.state.camera;
      try {
        history.replaceState(null, "", `#${toHash(this.state)}`);
      } catch {
        // the browser limits the rate of changes; the next one saves it
      }
    });
  }

  private async savePicture(): Promise<void> {
    const link = make("a", { download: "particles.png", href: URL.createObjectURL(await this.view.screenshot()) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  private async copyLink(): Promise<void> {
    this.state.camera = this.isKnown ? this.view.cameraState() : this.state.camera;
    const link = `${location.href.split("#")[0]}#${toHash(this.state)}`;
    if ("blob" in this.steps[this.state.step]!.source) {
      this.note("A link cannot contain files on this computer: publish them with 'parabat web' first.", "told");
      return;
    }
    try {
      await navigator.clipboard.writeText(link);
      this.note("The link was copied to the clipboard.", "told");
    } catch {
      this.note(`The browser does not allow this page to write to the clipboard. The link: ${link}`, "told");
    }
  }

  private listen(): void {
    const { canvas } = this.view;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute(
      "aria-label",
      "View of the particles. Arrows rotate, Shift and arrows pan, plus and minus zoom, R resets.",
    );
    canvas.addEventListener("keydown", (event) => this.pressed(event));
    let down: PointerEvent | null = null;
    canvas.addEventListener("pointerdown", (event) => (down = event));
    canvas.addEventListener("pointerup", (event) => {
      // The end of a drag is not a click.
      if (down && event.button === 0 && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 5) {
        const { left, top } = canvas.getBoundingClientRect();
        this.pick(this.view.pick(event.clientX - left, event.clientY - top));
      }
      down = null;
    });
    byId("toggle").addEventListener("click", () => {
      const isOpen = !this.panel.classList.toggle("closed");
      byId("toggle").setAttribute("aria-expanded", String(isOpen));
    });
    const input = byId<HTMLInputElement>("files");
    byId("choose").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const files = chosenFiles(input.files!);
      input.value = "";
      if (files.size > 0) {
        this.clearNotes();
        void this.attempt(async () => this.open(await stepsOf(files), false));
      }
    });
    window.addEventListener("dragover", (event) => {
      event.preventDefault();
      byId("dropping").hidden = false;
    });
    window.addEventListener("dragleave", (event) => {
      byId("dropping").hidden = event.relatedTarget === null || byId("dropping").hidden;
    });
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      byId("dropping").hidden = true;
      const { dataTransfer } = event;
      if (dataTransfer) {
        this.clearNotes();
        const files = droppedFiles(dataTransfer);
        void this.attempt(async () => this.open(await stepsOf(await files), false));
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyTheme());
  }

  private pressed(event: KeyboardEvent): void {
    const right = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
    if (right !== 0 || up !== 0) {
      if (event.shiftKey) {
        this.view.pan(0.08 * right, 0.08 * up);
      } else {
        this.view.turn(0.12 * right, 0.12 * up, 1);
      }
    } else if (event.key === "+" || event.key === "=") {
      this.view.turn(0, 0, 1.25);
    } else if (event.key === "-") {
      this.view.turn(0, 0, 0.8);
    } else if (event.key === "r" || event.key === "R") {
      this.view.resetCamera();
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * For tests and scripts: the current state, and opening another dataset with settings like those behind # in the URL.
   */
  readonly automation = {
    open: async (address: string, settings: string): Promise<void> => {
      Object.assign(this.state, fromHash(settings));
      await this.attempt(async () => this.open(await stepsAt(address, location.href), true));
    },
    status: (): Status => {
      const isIdle = this.isIdle && this.facts !== null && !this.timers.has("load") && !this.timers.has("step");
      return {
        isIdle,
        isSettled: isIdle && this.timers.size === 0 && this.client.isQuiet && this.view.isResting,
        shown: this.view.count,
        quality: this.quality,
        generation: this.generation,
        pictureTime: this.pictureTime,
      };
    },
    traffic: (): Traffic => this.traffic,
    shown: (attribute: string) => this.client.ask("shown", { attribute }),
    view: (): View3D => this.view,
  };
}

declare global {
  interface Window {
    parabat: App["automation"];
  }
}

window.parabat = new App().automation;
