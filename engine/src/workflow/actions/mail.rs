//! Sending mails, once for each action of a run.

use super::{Acting, Asked, Done, Trouble};
use crate::world::Mail;

pub(super) async fn send(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    // The template runs again while a later action waits: the mail is not sent again.
    let timer = format!("mail:{}", asked.action.path);
    if with.variables.timer(with.step, &timer).is_some() {
        return Ok(Done::Nothing);
    }
    let (from, content) = (&asked.params["from"], &asked.params["content"]);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let port = from["port"].as_u64().unwrap_or(587);
    let mail = Mail {
        from: text(&from["address"]),
        alias: text(&from["alias"]),
        password: text(&from["password"]),
        host: text(&from["host"]),
        port: u16::try_from(port).map_err(|_| format!("{port} is no port"))?,
        to: asked.names("to"),
        subject: text(&content["subject"]),
        body: text(&content["body"]),
    };
    if mail.to.is_empty() {
        return Err("failed to send email: nobody is to get it".into());
    }
    with.world.mail(&mail).await.map_err(|error| format!("failed to send email: {error}"))?;
    with.variables.set_timer(with.step, &timer, Some(with.world.now()));
    Ok(Done::Nothing)
}
