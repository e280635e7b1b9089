import { deniedError } from "./denied-error.ts";

/** The width of a picture, in pixels. Such a picture has about 40 kB in base64, which is small enough for `display`. */
const WIDTH = 640;
const QUALITY = 0.6;

/** A JPEG picture. */
interface Photo {
  readonly base64: string;
  readonly width: number;
  readonly height: number;
}

/** Takes one picture, and turns the camera off again. */
export async function takePhoto(signal: AbortSignal): Promise<Photo> {
  const wanted = { video: { width: { ideal: WIDTH * 2 } } };
  const stream = await navigator.mediaDevices.getUserMedia(wanted).catch((error: unknown) => {
    throw deniedError("camera", error);
  });
  try {
    signal.throwIfAborted();
    const video = document.createElement("video");
    video.muted = true;
    video.srcObject = stream;
    await video.play();
    const width = Math.min(WIDTH, video.videoWidth);
    const height = Math.round((video.videoHeight * width) / video.videoWidth);
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d")?.drawImage(video, 0, 0, width, height);
    const [, base64 = ""] = canvas.toDataURL("image/jpeg", QUALITY).split(",");
    return { base64, width, height };
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
