//! Answers as bytes for the host.

use cue_session::Answer;

/// An answer in an array with room for its text, which would take twice as much if it grew.
pub(crate) fn encoded(answer: &Answer) -> Vec<u8> {
    let text = match answer {
        Answer::Text(Some(text)) => text.len(),
        _ => 0,
    };
    let room = Output(Vec::with_capacity(text + 64));
    postcard::serialize_with_flavor(answer, room).unwrap_or_default()
}

struct Output(Vec<u8>);

impl postcard::ser_flavors::Flavor for Output {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_no_more_room_than_its_text() {
        let text = Answer::Text(Some("x".repeat(10_000)));
        let bytes = encoded(&text);
        assert!(bytes.capacity() < 10_100);
        assert_eq!(bytes, postcard::to_allocvec(&text).unwrap());
        assert_eq!(encoded(&Answer::Done), postcard::to_allocvec(&Answer::Done).unwrap());
    }
}
