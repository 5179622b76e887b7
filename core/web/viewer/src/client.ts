// SPDX-License-Identifier: BSD-3-Clause
// The page's side of the connection to the worker that reads.

import workerText from "worker:text";
import type { AnswerOf, ArgumentsOf, CallType, FromWorker, Problem, View, Requested } from "./protocol.js";

export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

type Event = Exclude<FromWorker, { type: "answer" }>;

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** The page may create scripts, but only this one: the worker, which is part of the page. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("parabat", {
  createScriptURL: (url) => {
    if (!url.startsWith("blob:")) {
      throw new TypeError(url);
    }
    return url;
  },
});

export class Client {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private calls = 0;

  constructor(onEvent: (event: Event) => void) {
    const url = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    this.worker = new Worker(policy ? policy.createScriptURL(url) : url);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>): void => {
      if (data.type !== "answer") {
        onEvent(data);
        return;
      }
      const call = this.waiting.get(data.call);
      this.waiting.delete(data.call);
      if (data.problem) {
        call?.reject(new ProblemError(data.problem));
      } else {
        call?.resolve(data.answer);
      }
    };
    this.worker.onerror = ({ message }): void =>
      onEvent({ type: "problem", generation: Infinity, problem: { kind: "other", message: `the worker ended: ${message}` } });
  }

  ask<Type extends CallType>(type: Type, given: ArgumentsOf<Type>): Promise<AnswerOf<Type>> {
    const call = ++this.calls;
    return new Promise<AnswerOf<Type>>((resolve, reject) => {
      this.waiting.set(call, { resolve: resolve as (answer: unknown) => void, reject });
      this.worker.postMessage({ type, call, arguments: given });
    });
  }

  get isQuiet(): boolean {
    return this.waiting.size === 0;
  }

  load(generation: number, requested: Requested, view: View): void {
    this.worker.postMessage({ type: "load", generation, requested, view });
  }

  look(view: View): void {
    this.worker.postMessage({ type: "view", view });
  }
}
