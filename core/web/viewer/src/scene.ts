// SPDX-License-Identifier: BSD-3-Clause
// The 3D scene: particles as discs, the box, and the mark of a picked particle. Draws only after changes.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  ColorManagement,
  DataTexture,
  Float32BufferAttribute,
  GLSL3,
  LineBasicMaterial,
  LinearSRGBColorSpace,
  LineSegments,
  Matrix4,
  PerspectiveCamera,
  Points,
  ShaderMaterial,
  Scene,
  Sphere,
  Vector2,
  Vector3,
  WebGLRenderer,
  type IUniform,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { colourTable, type ColourMap } from "./colours.js";
import type { Batch, View } from "./protocol.js";

const VERTEX = `
uniform float radius;       // of a disc, in the units of the file
uniform float pixels;       // of an upright of length 1 at distance 1
uniform vec2 range;         // which values have the ends of the colour map
uniform bool hasColour;
uniform bool hasSize;
uniform sampler2D colours;
uniform vec3 plain;
uniform vec3 none;          // of values that are no numbers
uniform vec3 lower;
uniform vec3 upper;
in float colour;
in float size;
out vec3 shade;
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  float own = hasSize ? (size < -1e8 ? 0.3 : mix(0.3, 2.2, clamp(size, 0.0, 1.0))) : 1.0;
  gl_PointSize = clamp(2.0 * radius * own * pixels / max(-place.z, 1e-30), 1.5, 96.0);
  if (any(lessThan(position, lower)) || any(greaterThan(position, upper))) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // out of sight
  }
  if (!hasColour) {
    shade = plain;
  } else if (colour < -1e8) {
    shade = none;
  } else {
    float t = clamp((colour - range.x) / max(range.y - range.x, 1e-9), 0.0, 1.0);
    shade = texture(colours, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  }
}`;

const FRAGMENT = `
in vec3 shade;
out vec4 pixel;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float far = dot(at, at);
  if (far > 1.0) discard;
  // As a small ball with the light from the upper left.
  float light = 0.62 + 0.38 * max(0.0, dot(vec3(at.x, -at.y, sqrt(1.0 - far)), vec3(-0.41, 0.55, 0.73)));
  pixel = vec4(shade * light, 1.0);
}`;

// Colours come from colour maps and themes, end to end.
ColorManagement.enabled = false;

type Uniforms = Record<string, IUniform>;

/** Cells of a grid that estimates how much space the particles fill. */
const CELLS = 48;

export interface Picked {
  readonly batch: number;
  readonly index: number;
}

interface Drawn {
  readonly batch: Batch;
  readonly points: Points;
}

export class View3D {
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.001, 1000);
  private readonly controls: OrbitControls;
  private readonly uniforms: Uniforms = {
    radius: { value: 1 },
    pixels: { value: 1 },
    range: { value: new Vector2(0, 1) },
    hasColour: { value: false },
    hasSize: { value: false },
    colours: { value: null },
    plain: { value: new Color() },
    none: { value: new Color() },
    lower: { value: new Vector3() },
    upper: { value: new Vector3() },
  };
  private readonly material = new ShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: this.uniforms,
  });
  private readonly drawn = new Map<number, Drawn>();
  private readonly outline: LineSegments;
  private readonly cut: LineSegments;
  private readonly mark: Points;
  private bounds: readonly number[] = [0, 0, 0, 0, 0, 0];
  private frame = 0;
  private isMoving = false;
  private lastMove = 0;
  /** Maximum number of particles in a picture while the camera moves, for smooth motion. */
  private smooth = 300_000;
  private frameStart = 0;
  private occupied = 1;
  /** The number of particles if all that match were shown; 0 while unknown. */
  private particles = 0;

  /** `onView` is called when the camera has come to rest, `onFrame` after each picture. */
  constructor(
    container: HTMLElement,
    private readonly onView: () => void,
    private readonly onFrame: () => void = () => undefined,
  ) {
    // Screenshots draw the picture again, so the buffer need not be preserved.
    this.renderer = new WebGLRenderer({ antialias: false, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.canvas = this.renderer.domElement;
    container.append(this.canvas);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.moved());
    this.controls.zoomToCursor = true;
    this.outline = boxOutline();
    this.cut = boxOutline();
    this.cut.visible = false;
    this.mark = markOf();
    this.scene.add(this.outline, this.cut, this.mark);
    new ResizeObserver(() => this.resize(container)).observe(container);
    this.resize(container);
  }

  get centre(): Vector3 {
    const b = this.bounds;
    return new Vector3(...[0, 1, 2].map((axis) => 0.5 * b[axis]! + 0.5 * b[axis + 3]!));
  }

  private get diagonal(): number {
    const b = this.bounds;
    return Math.hypot(b[3]! - b[0]!, b[4]! - b[1]!, b[5]! - b[2]!) || 1;
  }

  private resize(container: HTMLElement): void {
    const { clientWidth: width, clientHeight: height } = container;
    if (width === 0 || height === 0) {
      return;
    }
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.redraw();
  }

  /** Bounds of the dataset; the camera does not move if `keepsCamera`. */
  setDataset(bounds: readonly number[], keepsCamera: boolean): void {
    const before = this.centre;
    const camera = keepsCamera ? this.cameraState() : null;
    this.bounds = bounds;
    this.camera.near = this.diagonal / 5000;
    this.camera.far = this.diagonal * 50;
    this.controls.minDistance = this.diagonal / 2000;
    this.controls.maxDistance = this.diagonal * 20;
    this.camera.updateProjectionMatrix();
    placeBox(this.outline, bounds, this.centre);
    if (camera !== null) {
      this.setCamera(camera);
      // What is still drawn is relative to the old centre.
      const shift = before.sub(this.centre);
      for (const { points } of this.drawn.values()) {
        points.position.add(shift);
      }
    } else {
      this.resetCamera();
    }
  }

  resetCamera(): void {
    const b = this.bounds;
    const sides = [0, 1, 2].map((axis) => b[axis + 3]! - b[axis]!);
    // Looks from a corner, at flat datasets from above.
    const isFlat = sides[2]! < 1e-6 * this.diagonal;
    const from = isFlat ? new Vector3(0, 0, 1) : new Vector3(0.62, -1, 0.55).normalize();
    this.camera.up.set(0, isFlat ? 1 : 0, isFlat ? 0 : 1);
    const distance = (0.55 * this.diagonal) / Math.tan((this.camera.fov * Math.PI) / 360) / Math.min(1, this.camera.aspect);
    this.controls.target.set(0, 0, 0);
    this.camera.position.copy(from.multiplyScalar(distance));
    this.controls.update();
    this.moved();
  }

  /** Eye, target and up, in the coordinates of the file. */
  cameraState(): number[] {
    const centre = this.centre;
    return [
      ...this.camera.position.clone().add(centre).toArray(),
      ...this.controls.target.clone().add(centre).toArray(),
      ...this.camera.up.toArray(),
    ];
  }

  setCamera(state: readonly number[]): void {
    const centre = this.centre;
    this.camera.position.set(state[0]!, state[1]!, state[2]!).sub(centre);
    this.controls.target.set(state[3]!, state[4]!, state[5]!).sub(centre);
    this.camera.up.set(state[6]!, state[7]!, state[8]!).normalize();
    this.controls.update();
    this.moved();
  }

  /** Rotates by angles and zooms by a factor: for keys. */
  turn(right: number, up: number, nearer: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const side = new Vector3().crossVectors(this.camera.up, offset).normalize();
    offset.applyAxisAngle(this.camera.up, -right);
    const angle = offset.angleTo(this.camera.up);
    offset.applyAxisAngle(side, Math.min(Math.max(-up, 0.05 - angle), Math.PI - 0.05 - angle));
    const distance = Math.min(Math.max(offset.length() / nearer, this.controls.minDistance), this.controls.maxDistance);
    this.camera.position.copy(this.controls.target).add(offset.setLength(distance));
    this.controls.update();
    this.moved();
  }

  /** Pans by shares of the picture's height: for keys. */
  pan(right: number, up: number): void {
    const height = 2 * this.camera.position.distanceTo(this.controls.target) * Math.tan((this.camera.fov * Math.PI) / 360);
    const shift = new Vector3(right * height, up * height, 0).applyQuaternion(this.camera.quaternion);
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
    this.moved();
  }

  private moved(): void {
    this.isMoving = true;
    this.lastMove = performance.now();
    this.redraw();
  }

  /** The camera's position, and a box around what is visible up to twice the distance of the target. */
  view(): View {
    this.camera.updateMatrixWorld();
    const eye = this.camera.position;
    const reach = Math.max(2 * eye.distanceTo(this.controls.target), this.camera.near);
    const unproject = new Matrix4().multiplyMatrices(this.camera.matrixWorld, this.camera.projectionMatrixInverse);
    const lower = eye.clone();
    const upper = eye.clone();
    for (const [x, y] of [
      [-1, -1],
      [-1, 1],
      [1, -1],
      [1, 1],
    ] as const) {
      const direction = new Vector3(x, y, 0.5).applyMatrix4(unproject).sub(eye).normalize();
      const forward = direction.dot(new Vector3(0, 0, -1).applyQuaternion(this.camera.quaternion));
      const corner = eye.clone().addScaledVector(direction, reach / Math.max(forward, 0.1));
      lower.min(corner);
      upper.max(corner);
    }
    const centre = this.centre;
    return {
      eye: eye.clone().add(centre).toArray(),
      box: [...lower.add(centre).toArray(), ...upper.add(centre).toArray()],
    };
  }

  setColours(map: ColourMap, range: readonly [number, number]): void {
    const texture = new DataTexture(colourTable(map), 256, 1);
    texture.needsUpdate = true;
    (this.uniforms["colours"]!.value as DataTexture | null)?.dispose();
    this.uniforms["colours"]!.value = texture;
    (this.uniforms["range"]!.value as Vector2).set(...range);
    this.redraw();
  }

  setTheme(isDark: boolean): void {
    this.scene.background = new Color(isDark ? 0x14171c : 0xf4f5f7);
    (this.uniforms["plain"]!.value as Color).set(isDark ? 0x9fc3e8 : 0x3a6ea5);
    (this.uniforms["none"]!.value as Color).set(isDark ? 0x6b6f76 : 0x9a9ea5);
    (this.outline.material as LineBasicMaterial).color.set(isDark ? 0x4a505a : 0xb9bec6);
    (this.cut.material as LineBasicMaterial).color.set(isDark ? 0xffb454 : 0xc05a00);
    this.redraw();
  }

  /** Disc radius as a multiple of what suits the density, and the share of the particles that is shown. */
  setRadius(radius: number, quality: number): void {
    if (this.particles === 0 && quality > 0 && this.count > 0) {
      this.particles = this.count / quality;
    }
    const sides = [0, 1, 2].map((axis) => Math.max(this.bounds[axis + 3]! - this.bounds[axis]!, this.diagonal / 1000));
    const volume = this.occupied * sides[0]! * sides[1]! * sides[2]!;
    // If fewer particles are drawn, their discs are larger, so that they fill the same share of the picture.
    const spacing = Math.cbrt(volume / Math.max(this.particles * quality, 1));
    this.uniforms["radius"]!.value = Math.min(0.62 * spacing, this.diagonal / 40) * radius;
    this.redraw();
  }

  /** Clips particles to a box; null for none. */
  setBox(box: readonly number[] | null): void {
    const centre = this.centre;
    const lower = this.uniforms["lower"]!.value as Vector3;
    const upper = this.uniforms["upper"]!.value as Vector3;
    // The file decides exactly; rounded positions must not clip particles that it returned.
    const slack = 1e-6 * this.diagonal;
    if (box === null) {
      lower.setScalar(-Infinity);
      upper.setScalar(Infinity);
    } else {
      lower.set(box[0]!, box[1]!, box[2]!).sub(centre).subScalar(slack);
      upper.set(box[3]!, box[4]!, box[5]!).sub(centre).addScalar(slack);
      placeBox(this.cut, box, centre);
    }
    for (const side of [lower, upper]) {
      side.set(...([side.x, side.y, side.z].map((v) => Math.min(Math.max(v, -3e38), 3e38)) as [number, number, number]));
    }
    this.cut.visible = box !== null;
    this.redraw();
  }

  add(batch: Batch): void {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(batch.positions, 3));
    if (batch.colour !== null) {
      geometry.setAttribute("colour", new BufferAttribute(batch.colour, 1));
    }
    if (batch.size !== null) {
      geometry.setAttribute("size", new BufferAttribute(batch.size, 1));
    }
    geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
    const points = new Points(geometry, this.material);
    points.frustumCulled = false;
    this.uniforms["hasColour"]!.value = batch.colour !== null;
    this.uniforms["hasSize"]!.value = batch.size !== null;
    this.drawn.set(batch.batch, { batch, points });
    this.scene.add(points);
    if (this.drawn.size === 1 && batch.count > 0) {
      this.occupied = occupiedShare(batch.positions, this.bounds);
      this.particles = 0;
    }
    this.redraw();
  }

  remove(batches: Iterable<number>): void {
    for (const number of batches) {
      const found = this.drawn.get(number);
      if (found !== undefined) {
        this.scene.remove(found.points);
        found.points.geometry.dispose();
        this.drawn.delete(number);
      }
    }
    this.redraw();
  }

  get batches(): number[] {
    return [...this.drawn.keys()];
  }

  get count(): number {
    let sum = 0;
    for (const { batch } of this.drawn.values()) {
      sum += batch.count;
    }
    return sum;
  }

  /** Radius of a disc, in the units of the file. */
  get radius(): number {
    return this.uniforms["radius"]!.value as number;
  }

  /** Whether the current settings are drawn. */
  get isResting(): boolean {
    return this.frame === 0 && !this.isMoving;
  }

  /** The particle drawn at a point of the canvas, in CSS pixels, or null. */
  pick(x: number, y: number): Picked | null {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.camera.updateMatrixWorld();
    const matrix = new Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    const m = matrix.elements;
    const pixels = (0.5 * height) / Math.tan((this.camera.fov * Math.PI) / 360);
    const { radius } = this;
    const lower = this.uniforms["lower"]!.value as Vector3;
    const upper = this.uniforms["upper"]!.value as Vector3;
    let found: Picked | null = null;
    let best = Infinity;
    for (const { batch, points } of this.drawn.values()) {
      const { positions, count } = batch;
      const shift = points.position;
      for (let index = 0; index < count; ++index) {
        const [px, py, pz] = [
          positions[3 * index]! + shift.x,
          positions[3 * index + 1]! + shift.y,
          positions[3 * index + 2]! + shift.z,
        ];
        const w = m[3]! * px + m[7]! * py + m[11]! * pz + m[15]!;
        if (!(w > 0 && w < best)) {
          continue;
        }
        const dx = (0.5 + (0.5 * (m[0]! * px + m[4]! * py + m[8]! * pz + m[12]!)) / w) * width - x;
        const dy = (0.5 - (0.5 * (m[1]! * px + m[5]! * py + m[9]! * pz + m[13]!)) / w) * height - y;
        const reach = Math.max(4, Math.min((radius * pixels) / w, 48));
        if (dx * dx + dy * dy > reach * reach) {
          continue;
        }
        if (px < lower.x || py < lower.y || pz < lower.z || px > upper.x || py > upper.y || pz > upper.z) {
          continue;
        }
        best = w;
        found = { batch: batch.batch, index };
      }
    }
    return found;
  }

  setMark(picked: Picked | null): void {
    const drawn = picked && this.drawn.get(picked.batch);
    this.mark.visible = Boolean(drawn);
    if (picked && drawn) {
      const at = 3 * picked.index;
      this.mark.position.fromArray(drawn.batch.positions, at).add(drawn.points.position);
    }
    this.redraw();
  }

  redraw(): void {
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  /** Draws immediately. While the camera moves, large datasets are drawn with their coarse particles only. */
  draw(): void {
    const now = performance.now();
    const wasMoving = this.isMoving;
    this.isMoving = now - this.lastMove < 180;
    if (wasMoving && this.isMoving && this.frameStart > 0) {
      const took = now - this.frameStart;
      this.smooth = Math.min(Math.max(this.smooth * (took > 40 ? 0.8 : took < 20 ? 1.15 : 1), 50_000), 20_000_000);
    }
    this.frameStart = this.isMoving ? now : 0;
    let room = this.isMoving ? this.smooth : Infinity;
    for (const { batch, points } of this.drawn.values()) {
      const count = Math.min(batch.count, room);
      points.visible = count > 0;
      points.geometry.setDrawRange(0, count);
      room -= count;
    }
    const height = this.renderer.domElement.height;
    this.uniforms["pixels"]!.value = (0.5 * height) / Math.tan((this.camera.fov * Math.PI) / 360);
    this.renderer.render(this.scene, this.camera);
    this.onFrame();
    if (this.isMoving) {
      this.redraw();
    } else if (wasMoving) {
      this.onView();
    }
  }

  /** The picture as PNG. */
  async screenshot(): Promise<Blob> {
    this.isMoving = false;
    this.lastMove = 0;
    this.draw();
    return new Promise((resolve, reject) => {
      this.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the screenshot could not be saved"))), "image/png");
    });
  }

  /** The WebGL context: for measuring the page's overhead beyond drawing. */
  get graphics(): WebGL2RenderingContext {
    return this.renderer.getContext() as WebGL2RenderingContext;
  }
}

function boxOutline(): LineSegments {
  const corners: number[] = [];
  for (let axis = 0; axis < 3; ++axis) {
    for (const a of [0, 1]) {
      for (const b of [0, 1]) {
        for (const end of [0, 1]) {
          const corner = [0, 0, 0];
          corner[axis] = end;
          corner[(axis + 1) % 3] = a;
          corner[(axis + 2) % 3] = b;
          corners.push(...corner);
        }
      }
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(corners, 3));
  const lines = new LineSegments(geometry, new LineBasicMaterial());
  lines.frustumCulled = false;
  return lines;
}

function placeBox(lines: LineSegments, box: readonly number[], centre: Vector3): void {
  lines.position.set(box[0]!, box[1]!, box[2]!).sub(centre);
  lines.scale.set(...([0, 1, 2].map((axis) => Math.max(box[axis + 3]! - box[axis]!, 1e-30)) as [number, number, number]));
}

/** A ring around the picked particle, always on top. */
function markOf(): Points {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute([0, 0, 0], 3));
  const material = new ShaderMaterial({
    glslVersion: GLSL3,
    depthTest: false,
    transparent: true,
    vertexShader: "void main() { gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); gl_PointSize = 26.0; }",
    fragmentShader: `out vec4 pixel;
void main() {
  float far = length(2.0 * gl_PointCoord - 1.0);
  if (far > 1.0 || far < 0.6) discard;
  pixel = far > 0.9 || far < 0.7 ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(1.0);
}`,
  });
  const mark = new Points(geometry, material);
  mark.visible = false;
  mark.renderOrder = 1;
  mark.frustumCulled = false;
  return mark;
}

/** The share of the bounds that contains particles, from 0 to 1, estimated from an even sample. */
export function occupiedShare(positions: Float32Array, bounds: readonly number[]): number {
  const sides = [0, 1, 2].map((axis) => bounds[axis + 3]! - bounds[axis]!);
  // With few particles only large cells are meaningful.
  const cells = Math.max(2, Math.min(CELLS, Math.floor(Math.cbrt(positions.length / 3 / 4))));
  const seen = new Uint8Array(cells ** 3);
  let count = 0;
  for (let i = 0; i < positions.length; i += 3) {
    let cell = 0;
    for (let axis = 0; axis < 3; ++axis) {
      const part = sides[axis]! > 0 ? positions[i + axis]! / sides[axis]! + 0.5 : 0;
      cell = cell * cells + Math.min(Math.max(Math.floor(part * cells), 0), cells - 1);
    }
    count += seen[cell] ? 0 : 1;
    seen[cell] = 1;
  }
  return Math.max(count, 1) / cells ** sides.filter((side) => side > 0).length;
}
